"""`memref` operations that make another buffer of the same memory: new descriptors, no copies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.buffers import kept_dimensions
from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.operations.descriptors import (
    Layout,
    buffer_type,
    dead_handle,
    descriptor,
    layout_of,
)
from tfrt_nb.jit.operations.unranked import narrowed, widened
from tfrt_nb.passes.errors import fail


def _numbers(
    body: FunctionBody, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
) -> list[str]:
    """Operands for `[1, %n, 3]`."""
    names = iter([body.name(value) for value in dynamic])
    return [next(names) if n == DYNAMIC_INDEX else str(n) for n in static.get_values()]


def _times(body: FunctionBody, left: str, right: str) -> str:
    if "1" in (left, right):
        return right if left == "1" else left
    return "0" if "0" in (left, right) else body.value(f"mul i64 {left}, {right}")


def _plus(body: FunctionBody, left: str, right: str) -> str:
    if "0" in (left, right):
        return right if left == "0" else left
    return body.value(f"add i64 {left}, {right}")


def _subview(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.SubviewOp)
    source, target = layout_of(body, op.source, op), buffer_type(op.result, op)
    offsets = _numbers(body, op.static_offsets, op.offsets)
    sizes = _numbers(body, op.static_sizes, op.sizes)
    steps = _numbers(body, op.static_strides, op.strides)
    offset = source.offset
    for start, stride in zip(offsets, source.strides, strict=True):
        offset = _plus(body, offset, _times(body, start, stride))
    strides = [_times(body, a, b) for a, b in zip(steps, source.strides, strict=True)]
    kept = kept_dimensions(op.static_sizes.get_values(), target.get_shape())
    if kept is None:
        fail(op, "the sizes are not those of the result")
    layout = Layout(
        source.allocated,
        source.aligned,
        offset,
        [sizes[one] for one in kept],
        [strides[one] for one in kept],
    )
    body.bind(op.result, descriptor(body, layout))


def _extract_strided_metadata(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.ExtractStridedMetaDataOp)
    source = layout_of(body, op.source, op)
    handle = source.allocated
    for size in source.sizes:
        if not size.isdigit() or size == "0":  # a base has one element
            is_empty = body.value(f"icmp eq i64 {size}, 0")
            dead = dead_handle(body)
            handle = body.value(f"select i1 {is_empty}, ptr {dead}, ptr {handle}")
    base = Layout(handle, source.aligned, "0", [], [])
    body.bind(op.base_buffer, descriptor(body, base))
    body.bind(op.offset, source.offset)
    for results, numbers in ((op.sizes, source.sizes), (op.strides, source.strides)):
        for result, number in zip(results, numbers, strict=True):
            body.bind(result, number)


def _aligned_pointer(body: FunctionBody, op: Operation) -> None:
    pointer = layout_of(body, op.operands[0], op).aligned
    body.set(op.results[0], f"ptrtoint ptr {pointer} to i64")


def _cast(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.CastOp)
    source, target = op.source.type, op.dest.type
    if isinstance(target, UnrankedMemRefType):
        body.bind(op.dest, widened(body, op.source, op))
    elif isinstance(source, UnrankedMemRefType):
        assert isinstance(target, MemRefType)
        layout = narrowed(body, op.source, len(target.get_shape()))
        body.bind(op.dest, descriptor(body, layout))
    else:
        _same(body, op)


def _same(body: FunctionBody, op: Operation) -> None:
    body.bind(op.results[0], body.name(op.operands[0]))


LOWERINGS: dict[str, Lowering] = {
    memref.AssumeAlignmentOp.name: _same,
    memref.CastOp.name: _cast,
    memref.ExtractAlignedPointerAsIndexOp.name: _aligned_pointer,
    memref.ExtractStridedMetaDataOp.name: _extract_strided_metadata,
    memref.MemorySpaceCastOp.name: _same,
    memref.SubviewOp.name: _subview,
}
