"""The basic kernels: constants, scalar operations, printing, and chains.

The kernels for control flow are in `control_flow`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfrt_nb.dialects.tables.signatures import Form, Signature, family, kernel, native, table
from tfrt_runtime.scalars import OPERATIONS


def _of_table() -> Iterator[Signature]:
    """Yield the signatures of the scalar operations, for async and for sync functions."""
    for one in OPERATIONS.values():
        for name, generic in (
            (one.name, one.family.generic),
            (one.sync_name, one.family.generic_sync),
        ):
            form = Form.GENERIC if one.suffix in generic else Form.OPERANDS
            yield Signature(name, one.operands, one.results, form=form)


SIGNATURES = table(
    native("tfrt"),
    family("i1 i8 i16 i32 i64 ui32 ui64 f16 bf16 f32 f64",
           "tfrt.constant.{}", "-> {}", Form.CONSTANT, value="{}"),
    family([("complex64", "f32"), ("complex128", "f64")],
           "tfrt.constant.{0}", "-> {0}", Form.COMPLEX, real="{1}", imaginary="{1}"),
    _of_table(),
    family("i1 i8 i16 i32 i64 f32 f64", "tfrt.print.{}", "{} chain -> chain", Form.OPERANDS),
    family("f16 complex64 complex128", "tfrt.print.{}", "{} chain -> chain"),
    kernel("tfrt.get_device", "chain -> device", Form.OPERANDS, device_name="string"),
    kernel("tfrt.async.read.from.mars", "-> i32", Form.OPERANDS),
    # Kernels for functions with `tfrt.sync`.
    kernel("tfrt.constant_s.i32", "-> i32", value="i32"),
    family("i64 f16 f32 f64", "tfrt.constant_s.{}", "-> {}", Form.CONSTANT, value="{}"),
    # Kernels that TFRT does not have.
    family("i1 i8 i16 ui32 ui64 bf16", "tfrt.constant_s.{}", "-> {}", Form.CONSTANT, value="{}"),
    family([("complex64", "f32"), ("complex128", "f64")],
           "tfrt.constant_s.{0}", "-> {0}", Form.COMPLEX, real="{1}", imaginary="{1}"),
)  # fmt: skip
"""The kernels `tfrt.*` that are not control flow."""
