"""LLVM IR for each function of `tensor_loops`: loops over vectors, and calls into BLAS.

The C interface of BLAS is described at https://www.netlib.org/blas/

The core is compiled without the processor's widest registers, and its optimizer vectorizes no
loops: vectorized code is written as such here.  A vector of 16 uses as many registers as it needs.
"""

from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils

from tfrt_runtime.native.building.lowering import F32, F64, I32, I64, Emit, external, pointer

LANES = 16

# CblasRowMajor, CblasNoTrans, and CblasTrans.
ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112


def wide(kind: ir.Type, lanes: int) -> ir.Type:
    """Return the type of `lanes` elements as one value."""
    return ir.VectorType(kind, lanes) if lanes > 1 else kind


def place(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, kind: ir.Type) -> ir.Value:
    """Return a pointer to element `index` of an array of 4-byte elements."""
    offset = builder.shl(index, ir.Constant(I64, 2))
    return pointer(builder, builder.add(base, offset), kind)


def each(builder: ir.IRBuilder, count: ir.Value, body: Callable[[ir.Value, int], None]) -> None:
    """Emit `body(index, lanes)` for whole vectors, then for single elements."""
    zero, one, lanes = (ir.Constant(I64, number) for number in (0, 1, LANES))
    whole = builder.and_(count, ir.Constant(I64, -LANES))
    with cgutils.for_range_slice(builder, zero, whole, lanes, I64) as (index, _):
        body(index, LANES)
    with cgutils.for_range_slice(builder, whole, count, one, I64) as (index, _):
        body(index, 1)


def relu_f32s(builder: ir.IRBuilder, array: ir.Value, count: ir.Value) -> None:
    def body(index: ir.Value, lanes: int) -> None:
        kind = wide(F32, lanes)
        at = place(builder, array, index, kind)
        number, zero = builder.load(at, align=4), ir.Constant(kind, None)
        is_below = builder.fcmp_ordered("<", number, zero)
        builder.store(builder.select(is_below, zero, number), at, align=4)

    each(builder, count, body)


def copy_words32(
    builder: ir.IRBuilder, target: ir.Value, source: ir.Value, count: ir.Value
) -> None:
    function = external(builder, "tfrt_copy", ir.FunctionType(ir.VoidType(), [I64, I64, I64]))
    builder.call(function, [target, source, builder.shl(count, ir.Constant(I64, 2))])


def exponential(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.call(external(builder, "exp", ir.FunctionType(F64, [F64])), [number])


def nearest_f32(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.fpext(builder.fptrunc(number, F32), F64)


def multiply_matrices(
    builder: ir.IRBuilder,
    function: ir.Value,
    rows: ir.Value,
    columns: ir.Value,
    inner: ir.Value,
    alpha: ir.Value,
    left: ir.Value,
    right: ir.Value,
    beta: ir.Value,
    target: ir.Value,
    right_step: ir.Value,
    target_step: ir.Value,
) -> None:
    words = [I32] * 3 + [I64] * 3 + [F32, I64, I64, I64, I64, F32, I64, I64]
    order = [ir.Constant(I32, number) for number in (ROW_MAJOR, AS_IT_IS, AS_IT_IS)]
    scale, keep = builder.fptrunc(alpha, F32), builder.fptrunc(beta, F32)
    operands = [scale, left, inner, right, right_step, keep, target, target_step]
    call(builder, function, words, [*order, rows, columns, inner, *operands])


def multiply_row(
    builder: ir.IRBuilder,
    function: ir.Value,
    columns: ir.Value,
    inner: ir.Value,
    alpha: ir.Value,
    left: ir.Value,
    right: ir.Value,
    beta: ir.Value,
    target: ir.Value,
) -> None:
    words = [I32] * 2 + [I64] * 2 + [F32, I64, I64, I64, I64, F32, I64, I64]
    order = [ir.Constant(I32, number) for number in (ROW_MAJOR, TRANSPOSED)]
    scale, keep = builder.fptrunc(alpha, F32), builder.fptrunc(beta, F32)
    one = ir.Constant(I64, 1)
    operands = [scale, right, columns, left, one, keep, target, one]
    call(builder, function, words, [*order, inner, columns, *operands])


def call(
    builder: ir.IRBuilder, function: ir.Value, words: list[ir.Type], arguments: list[ir.Value]
) -> None:
    """Call a C function without a result at an address."""
    kind = ir.FunctionType(ir.VoidType(), words)
    builder.call(builder.inttoptr(function, kind.as_pointer()), arguments)


# Same format as `lowering.OPERATIONS`.
OPERATIONS: dict[str, tuple[str, str, Emit]] = {
    "relu_f32s": ("ii", "", relu_f32s),
    "copy_words32": ("iii", "", copy_words32),
    "exponential": ("f", "f", exponential),
    "nearest_f32": ("f", "f", nearest_f32),
    "multiply_matrices": ("iiiifiifiii", "", multiply_matrices),
    "multiply_row": ("iiifiifi", "", multiply_row),
}
