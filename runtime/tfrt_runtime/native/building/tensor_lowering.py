"""LLVM IR for each function of `tensor_loops`: loops over vectors, and calls into BLAS.

The C interface of BLAS is described at https://www.netlib.org/blas/

The core is compiled without the processor's widest registers, and its optimizer vectorizes no
loops: vectorized code is written as such here.  A vector of 16 uses as many registers as it needs.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils

from tfrt_runtime.native.building.lowering import F32, F64, I32, I64, Emit, external, pointer

LANES = 16
Combine = Callable[..., ir.Value]

# CblasRowMajor, CblasNoTrans, and CblasTrans.
ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112


def wide(kind: ir.Type, lanes: int) -> ir.Type:
    """Return the type of `lanes` elements as one value."""
    return ir.VectorType(kind, lanes) if lanes > 1 else kind


def constant(kind: ir.Type, lanes: int, number: float) -> ir.Constant:
    """Return a constant with the same number in each lane."""
    return ir.Constant(wide(kind, lanes), [number] * lanes if lanes > 1 else number)


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


def mapping(source: ir.Type, target: ir.Type, combine: Combine) -> Emit:
    """Return a loop that computes each element of the target from those of the sources.

    `combine(builder, lanes, *elements)` returns one vector or element.
    """

    def emit(builder: ir.IRBuilder, result: ir.Value, *rest: ir.Value) -> None:
        sources, count = rest[:-1], rest[-1]

        def body(index: ir.Value, lanes: int) -> None:
            kind = wide(source, lanes)
            elements = [
                builder.load(place(builder, base, index, kind), align=4) for base in sources
            ]
            made = combine(builder, lanes, *elements)
            at = place(builder, result, index, wide(target, lanes))
            builder.store(made, at, align=4)

        each(builder, count, body)

    return emit


def equal_f32(builder: ir.IRBuilder, lanes: int, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.uitofp(builder.fcmp_ordered("==", left, right), wide(F32, lanes))


def equal_i32(builder: ir.IRBuilder, lanes: int, left: ir.Value, right: ir.Value) -> ir.Value:
    return builder.zext(builder.icmp_signed("==", left, right), wide(I32, lanes))


def relu_f32(builder: ir.IRBuilder, lanes: int, number: ir.Value) -> ir.Value:
    zero = constant(F32, lanes, 0.0)
    return builder.select(builder.fcmp_ordered("<", number, zero), zero, number)


def relu_i32(builder: ir.IRBuilder, lanes: int, number: ir.Value) -> ir.Value:
    zero = constant(I32, lanes, 0)
    return builder.select(builder.icmp_signed("<", number, zero), zero, number)


def f32_to_i32(builder: ir.IRBuilder, lanes: int, number: ir.Value) -> ir.Value:
    low, high = constant(F32, lanes, -(2.0**31)), constant(F32, lanes, 2.0**31)
    fits = builder.and_(
        builder.fcmp_ordered(">=", number, low), builder.fcmp_ordered("<", number, high)
    )
    # `fptosi` of a number out of range is poison: select before the conversion, and again after it.
    safe = builder.select(fits, number, constant(F32, lanes, 0.0))
    smallest = constant(I32, lanes, -(2**31))
    return builder.select(fits, builder.fptosi(safe, wide(I32, lanes)), smallest)


def copy_words32(
    builder: ir.IRBuilder, target: ir.Value, source: ir.Value, count: ir.Value
) -> None:
    function = external(builder, "tfrt_copy", ir.FunctionType(ir.VoidType(), [I64, I64, I64]))
    builder.call(function, [target, source, builder.shl(count, ir.Constant(I64, 2))])


def fill_words32(builder: ir.IRBuilder, target: ir.Value, bits: ir.Value, count: ir.Value) -> None:
    word = builder.trunc(bits, I32)

    def body(index: ir.Value, lanes: int) -> None:
        kind = wide(I32, lanes)
        filled = word
        if lanes > 1:
            first = builder.insert_element(ir.Constant(kind, None), word, ir.Constant(I32, 0))
            everywhere = ir.Constant(wide(I32, lanes), [0] * lanes)
            filled = builder.shuffle_vector(first, first, everywhere)
        builder.store(filled, place(builder, target, index, kind), align=4)

    each(builder, count, body)


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
    "add_f32s": ("iiii", "", mapping(F32, F32, lambda b, _, x, y: b.fadd(x, y))),
    "add_i32s": ("iiii", "", mapping(I32, I32, lambda b, _, x, y: b.add(x, y))),
    "equal_f32s": ("iiii", "", mapping(F32, F32, equal_f32)),
    "equal_i32s": ("iiii", "", mapping(I32, I32, equal_i32)),
    "relu_f32s": ("iii", "", mapping(F32, F32, relu_f32)),
    "relu_i32s": ("iii", "", mapping(I32, I32, relu_i32)),
    "i32s_to_f32s": ("iii", "", mapping(I32, F32, lambda b, n, x: b.sitofp(x, wide(F32, n)))),
    "f32s_to_i32s": ("iii", "", mapping(F32, I32, f32_to_i32)),
    "copy_words32": ("iii", "", copy_words32),
    "fill_words32": ("iii", "", fill_words32),
    "exponential": ("f", "f", exponential),
    "nearest_f32": ("f", "f", nearest_f32),
    "multiply_matrices": ("iiiifiifiii", "", multiply_matrices),
    "multiply_row": ("iiifiifi", "", multiply_row),
}
