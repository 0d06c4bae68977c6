"""Buffers whose rank is known when the program runs: `memref<*xf32>`.

MLIR has a pointer to a descriptor in the frame of the function that casts.  Here it is a descriptor by
value, with room for `MAX_DIMENSIONS`: it can be captured by a task, returned and kept in a value, and
it needs no free.

    { i64 rank, ptr allocated, ptr aligned, i64 offset, [8 x i64] sizes, [8 x i64] strides }
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tfrt_nb.jit.function_body import FunctionBody
from tfrt_nb.jit.llvm_types import UNRANKED_TYPE
from tfrt_nb.jit.operations.descriptors import Layout, layout_of
from tfrt_nb.passes.errors import fail
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS

_RANK, _ALLOCATED, _ALIGNED, _OFFSET, _SIZES, _STRIDES = range(6)


def widened(body: FunctionBody, buffer: SSAValue, op: Operation) -> str:
    """A buffer of known rank as one of any rank."""
    layout = layout_of(body, buffer, op)
    rank = len(layout.sizes)
    if rank > MAX_DIMENSIONS:
        fail(op, f"a buffer of any rank has up to {MAX_DIMENSIONS} dimensions, this one {rank}")
    value = "zeroinitializer"
    for operand, *place in (
        (f"i64 {rank}", _RANK),
        (f"ptr {layout.allocated}", _ALLOCATED),
        (f"ptr {layout.aligned}", _ALIGNED),
        (f"i64 {layout.offset}", _OFFSET),
        *((f"i64 {size}", _SIZES, i) for i, size in enumerate(layout.sizes)),
        *((f"i64 {stride}", _STRIDES, i) for i, stride in enumerate(layout.strides)),
    ):
        numbers = ", ".join(map(str, place))
        value = body.value(f"insertvalue {UNRANKED_TYPE} {value}, {operand}, {numbers}")
    return value


def narrowed(body: FunctionBody, buffer: SSAValue, rank: int) -> Layout:
    """A buffer of any rank as one of this rank, which it has."""
    return Layout(
        allocated_pointer(body, buffer),
        _field(body, buffer, _ALIGNED),
        _field(body, buffer, _OFFSET),
        sizes_of(body, buffer)[:rank],
        [_field(body, buffer, _STRIDES, dimension) for dimension in range(rank)],
    )


def rank_of(body: FunctionBody, buffer: SSAValue) -> str:
    """How many dimensions there are."""
    return _field(body, buffer, _RANK)


def allocated_pointer(body: FunctionBody, buffer: SSAValue) -> str:
    """The handle of a buffer."""
    return _field(body, buffer, _ALLOCATED)


def sizes_of(body: FunctionBody, buffer: SSAValue) -> list[str]:
    """The sizes of all dimensions that there may be; 0 for those that it does not have."""
    return [_field(body, buffer, _SIZES, dimension) for dimension in range(MAX_DIMENSIONS)]


def _field(body: FunctionBody, buffer: SSAValue, *place: int) -> str:
    return body.value(f"extractvalue {body.typed(buffer)}, {', '.join(map(str, place))}")
