"""The basic kernels: constants, arithmetic, comparison, printing, chains.

Control flow is in `control_flow`.
"""

from __future__ import annotations

import itertools

from tfrt_nb.dialects.signatures import Form, family, kernel, table

_INTEGERS = "i32 i64"
_FLOATS = "f32 f64"
_NUMBERS = "i32 i64 f32 f64"
_CASTS = [("i64", "f32"), ("f32", "i64"), ("i64", "f64"), ("f64", "i64")]
_ALL = "i8 i16 i32 i64 f32 f64"
_MORE_CASTS = [
    pair for pair in itertools.permutations(("i1", *_ALL.split()), 2) if pair not in _CASTS
]

SIGNATURES = table(
    family("i1 i32 i64 ui32 ui64 f16 bf16 f32 f64",
           "tfrt.constant.{}", "-> {}", Form.CONSTANT, value="{}"),
    family([("complex64", "f32"), ("complex128", "f64")],
           "tfrt.constant.{0}", "-> {0}", Form.COMPLEX, real="{1}", imaginary="{1}"),
    family(_NUMBERS, "tfrt.add.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_INTEGERS, "tfrt.mul.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_INTEGERS, "tfrt.minus.{}", "{0} {0} -> {0}"),
    family(_FLOATS, "tfrt.multiply.{}", "{0} {0} -> {0}"),
    family(_FLOATS, "tfrt.minimum.{}", "{0} {0} -> {0}"),
    family(_INTEGERS, "tfrt.div.{}", "{0} {0} -> {0} {0}", Form.OPERANDS),
    family(_FLOATS, "tfrt.div.{}", "{0} {0} -> {0}"),
    family(_INTEGERS, "tfrt.equal.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(_INTEGERS, "tfrt.lessequal.{}", "{0} {0} -> i1"),
    kernel("tfrt.and.i1", "i1 i1 -> i1", Form.OPERANDS),
    family(_CASTS, "tfrt.cast.{0}_to_{1}", "{0} -> {1}"),
    family("i1 i32 i64 f32 f64", "tfrt.print.{}", "{} chain -> chain", Form.OPERANDS),
    family("f16 complex64 complex128", "tfrt.print.{}", "{} chain -> chain"),
    kernel("tfrt.new.chain", "-> chain", Form.OPERANDS),
    kernel("tfrt.merge.chains", "any* -> chain", Form.TYPED),
    kernel("tfrt.alias.value", "chain any -> any"),
    kernel("tfrt.get_device", "chain -> device", Form.OPERANDS, device_name="string"),
    kernel("tfrt.async.read.from.mars", "-> i32", Form.OPERANDS),
    # Python's operators, which the reference does not have.
    family("i8 i16", "tfrt.add.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i8 i16", "tfrt.mul.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i8 i16 f32 f64", "tfrt.minus.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_ALL, "tfrt.floordiv.{}", "{0} {0} -> {0} {0}", Form.OPERANDS),
    family(_ALL, "tfrt.abs.{}", "{0} -> {0}", Form.OPERANDS),
    family("i8 i16 i32 i64", "tfrt.minimum.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_ALL, "tfrt.maximum.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i1 i8 i16 f32 f64", "tfrt.equal.{}", "{0} {0} -> i1", Form.OPERANDS),
    family("i8 i16 f32 f64", "tfrt.lessequal.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(f"i1 {_ALL}", "tfrt.notequal.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(_ALL, "tfrt.less.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(_ALL, "tfrt.greater.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(_ALL, "tfrt.greaterequal.{}", "{0} {0} -> i1", Form.OPERANDS),
    family("i8 i16 i32 i64", "tfrt.and.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i1 i8 i16 i32 i64", "tfrt.or.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i1 i8 i16 i32 i64", "tfrt.xor.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i8 i16 i32 i64", "tfrt.shiftleft.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family("i8 i16 i32 i64", "tfrt.shiftright.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_MORE_CASTS, "tfrt.cast.{0}_to_{1}", "{0} -> {1}", Form.OPERANDS),
    # Kernels of functions with `tfrt.sync`.
    kernel("tfrt.constant_s.i32", "-> i32", value="i32"),
    family("i64 f16 f32 f64", "tfrt.constant_s.{}", "-> {}", Form.CONSTANT, value="{}"),
    family(_INTEGERS, "tfrt.add_s.{}", "{0} {0} -> {0}"),
    family(_INTEGERS, "tfrt.mul_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    # Those that the reference does not have.
    family("i1 ui32 ui64 bf16", "tfrt.constant_s.{}", "-> {}", Form.CONSTANT, value="{}"),
    family([("complex64", "f32"), ("complex128", "f64")],
           "tfrt.constant_s.{0}", "-> {0}", Form.COMPLEX, real="{1}", imaginary="{1}"),
    family(_FLOATS, "tfrt.add_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_INTEGERS, "tfrt.minus_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_FLOATS, "tfrt.multiply_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_FLOATS, "tfrt.minimum_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_INTEGERS, "tfrt.div_s.{}", "{0} {0} -> {0} {0}", Form.OPERANDS),
    family(_FLOATS, "tfrt.div_s.{}", "{0} {0} -> {0}", Form.OPERANDS),
    family(_INTEGERS, "tfrt.equal_s.{}", "{0} {0} -> i1", Form.OPERANDS),
    family(_INTEGERS, "tfrt.lessequal_s.{}", "{0} {0} -> i1", Form.OPERANDS),
    kernel("tfrt.and_s.i1", "i1 i1 -> i1", Form.OPERANDS),
    family(_CASTS, "tfrt.cast_s.{0}_to_{1}", "{0} -> {1}", Form.OPERANDS),
    kernel("tfrt.new_s.chain", "-> chain", Form.OPERANDS),
    kernel("tfrt.copy_s", "any -> any"),
)  # fmt: skip
"""The kernels `tfrt.*` that are not control flow."""
