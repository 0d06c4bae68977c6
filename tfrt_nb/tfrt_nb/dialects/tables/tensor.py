"""The kernels for host tensors.

The table has dense tensors (`tfrt_dht`), tensors of strings (`tfrt_sht`), sparse tensors (`coo`),
shapes (`ts`), files of tensors (`btf`), and the mathematics that tests use (`tfrt_test`).
"""

from __future__ import annotations

import itertools

from tfrt_nb.dialects.tables.signatures import Form, family, kernel, table

RANKS = "0 1 2 3 4 5"
SHORT = "ui8 ui32 ui64 i32 i64 f32 bool"
"""The element types whose tensor operations have a short form."""
LONG = "i8 f64"
COMPLEX = "complex64 complex128"
HALVES = "f16 bf16"
_ULPS = ("", ".3ulp", ".1000ulp", ".2000ulp", ".100000ulp")


def _product(*words: str) -> list[tuple[str, ...]]:
    return list(itertools.product(*(word.split() for word in words)))


def _elements(names: str) -> list[tuple[str, ...]]:
    """Return pairs of an element's name and its type word; the two differ only for `bool`."""
    return [(name, "i1" if name == "bool" else name) for name in names.split()]


_CREATE = ("tfrt_dht.create_uninitialized_tensor.{0}.{1}", "-> tensor")
_FILL = ("tfrt_dht.fill_tensor_with_constant.{0}", "tensor chain -> chain")
_SET = ("tfrt_dht.set_tensor_with_constant_values.{0}", "tensor chain -> chain")
_SET_FROM_OPERANDS = ("tfrt_dht.set_tensor_with_values.{0}", "tensor chain {1}* -> chain")
_EQUAL = ("tfrt_dht.tensor_equal.{0}", "tensor tensor chain -> i1 chain")
_MAKE = ("tfrt_dht.make_tensor.{0}", "buffer shape chain -> tensor chain")

SIGNATURES = table(
    # Dense
    family(_product(f"{SHORT} {COMPLEX} {HALVES}", RANKS),
           *_CREATE, Form.ARRAY, shape="array.i64"),
    family(_product(LONG, RANKS), *_CREATE, shape="array.i64"),
    family(_elements(SHORT), *_FILL, Form.FILL, value="{1}"),
    family(_elements(LONG), *_FILL, value="{1}"),
    family(_elements(SHORT), *_SET, Form.ARRAY, values="array.{1}"),
    family(_elements(LONG), *_SET, values="array.{1}"),
    family([("complex64", "f32"), ("complex128", "f64")], *_SET, Form.ARRAY, values="array.{1}"),
    family(_elements(f"{SHORT} {LONG} {COMPLEX}"), *_SET_FROM_OPERANDS),
    family(f"{SHORT} {COMPLEX}", *_EQUAL, Form.OPERANDS),
    family(LONG, *_EQUAL),
    family(f"{SHORT} {COMPLEX}", *_MAKE, Form.OPERANDS),
    family(LONG, *_MAKE),
    family(itertools.product(_ULPS, ("f32", "f64")),
           "tfrt_dht.tensor_allclose{0}.{1}", "tensor tensor chain -> i1 chain"),
    kernel("tfrt_dht.allocate_buffer", "i64 i64 -> buffer", Form.OPERANDS),
    kernel("tfrt_dht.get_buffer", "tensor chain -> buffer chain", Form.OPERANDS),
    kernel("tfrt_dht.get_buffer_slice", "buffer i64 i64 -> buffer", Form.OPERANDS),
    kernel("tfrt_dht.print_buffer", "buffer chain -> chain", Form.OPERANDS),
    kernel("tfrt_dht.print_tensor", "tensor chain -> chain", Form.OPERANDS),
    kernel("tfrt_dht.print_tensor_shape", "tensor chain -> chain"),
    kernel("tfrt_dht.get_tensor_shape", "tensor -> shape", Form.OPERANDS),
    kernel("tfrt_dht.no_op_ht", "tensor -> tensor"),
    kernel("tfrt_sht.create_tensor", "-> tensor", shape="array.i64", values="aggregate"),
    # The subset for sync functions
    family(_product(SHORT, RANKS),
           "tfrt_dht_sync.create_uninitialized_tensor.{0}.{1}", "-> tensor",
           Form.ARRAY, shape="array.i64"),
    family(_elements(SHORT),
           "tfrt_dht_sync.fill_tensor_with_constant.{0}", "tensor ->", Form.FILL, value="{1}"),
    family(_elements(SHORT),
           "tfrt_dht_sync.set_tensor_with_constant_values.{0}", "tensor ->",
           Form.ARRAY, values="array.{1}"),
    family(SHORT, "tfrt_dht_sync.tensor_equal.{}", "tensor tensor -> i1", Form.OPERANDS),
    kernel("tfrt_dht_sync.print_tensor", "tensor ->", Form.OPERANDS),
    kernel("tfrt_sht_sync.create_tensor", "-> tensor", shape="array.i64", values="aggregate"),
    kernel("tfrt_sht_sync.create_uninitialized_tensor", "-> tensor", shape="array.i64"),
    # Sparse
    family(_product(f"{SHORT} {LONG}", RANKS),
           "coo.convert_dht_to_coo.{0}.{1}", "tensor chain -> tensor chain", Form.OPERANDS),
    family(_product(f"{SHORT} {LONG}", RANKS),
           "coo.convert_coo_to_dht.{0}.{1}", "tensor chain -> tensor chain", Form.OPERANDS),
    family(_product(f"{SHORT} {LONG}", RANKS),
           "coo.tensor_equal.{0}.{1}", "tensor tensor chain -> i1 chain", Form.OPERANDS),
    # Shapes
    kernel("ts.build_shape", "-> shape", Form.ARRAY, value="array.i64"),
    kernel("ts.print_shape", "shape chain -> chain", Form.OPERANDS),
    kernel("ts.equal_shape", "shape shape -> i1", Form.OPERANDS),
    kernel("ts.get_dimension", "shape i32 -> i64", Form.OPERANDS),
    kernel("ts.get_num_elements", "shape -> i64", Form.OPERANDS),
    family(RANKS, "ts.as_fixed_rank_shape.{}", "shape -> fixed_rank_shape.{}", Form.OPERANDS),
    family(RANKS, "ts.print_fixed_rank_shape.{}",
           "fixed_rank_shape.{} chain -> chain", Form.OPERANDS),
    kernel("ts.build_partial_shape", "-> partial_shape", Form.ARRAY, value="array.i64"),
    kernel("ts.build_unranked_partial_shape", "-> partial_shape", Form.OPERANDS),
    kernel("ts.print_partial_shape", "partial_shape chain -> chain", Form.OPERANDS),
    kernel("ts.to_shape", "partial_shape -> shape", Form.OPERANDS),
    kernel("ts.to_partial_shape", "shape -> partial_shape", Form.OPERANDS),
    # Files
    family(_product("f32 i32 i64 i8 ui8", RANKS),
           "btf.read_dense_tensor.{0}.{1}", "string i32 -> tensor"),
    family(_product("f32 i32 i64 i8 ui8", RANKS),
           "btf.read_coo_tensor.{0}.{1}", "string i32 -> tensor"),
    # Mathematics
    family("f32 i32", "tfrt_test.matmul.{}.2", "{0} tensor tensor {0} tensor chain -> chain"),
    family("f32", "tfrt_test.relu.{}", "tensor tensor chain -> chain"),
    family("f32", "tfrt_test.relu_inplace.{}", "tensor chain -> chain"),
    family("f32 i32", "tfrt_test.add.{}", "tensor tensor tensor chain -> chain"),
    family("f32 i32", "tfrt_test.add_inplace.{}", "tensor tensor chain -> chain"),
    family("f32 i32", "tfrt_test.equal.{}", "tensor tensor tensor chain -> chain"),
    family("f32 i32", "tfrt_test.equal_inplace.{}", "tensor tensor chain -> chain"),
    family(_product("f32 i32", "2 3"),
           "tfrt_test.broadcast.{0}.{1}", "tensor shape chain -> tensor"),
    family("f32 i32", "tfrt_test.argmax.{}.2", "tensor chain -> tensor"),
    family("f32", "tfrt_test.reduce_mean.{}.1", "tensor chain -> tensor"),
    family("f32", "tfrt_test.flatten.{}", "tensor tensor chain -> chain"),
    family("f32", "tfrt_test.softmax.{}", "tensor tensor chain -> chain"),
    family("f32", "tfrt_test.softmax_inplace.{}", "tensor chain -> chain"),
    kernel("tfrt_test.cast.i32_to_f32", "tensor chain -> tensor"),
)  # fmt: skip
