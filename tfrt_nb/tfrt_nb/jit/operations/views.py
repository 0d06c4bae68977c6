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

from tfrt_nb.dialects.async_.upstream.views import TransposeOp, groups_of, kept_dimensions
from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.operations.descriptors import (
    Layout,
    buffer_type,
    contiguous_strides,
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


def _reinterpret_cast(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.ReinterpretCastOp)
    source = layout_of(body, op.source, op)
    [offset] = _numbers(body, op.static_offsets, op.offsets)
    sizes = _numbers(body, op.static_sizes, op.sizes)
    strides = _numbers(body, op.static_strides, op.strides)
    layout = Layout(source.allocated, source.aligned, offset, sizes, strides)
    body.bind(op.result, descriptor(body, layout))


def _transpose(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, TransposeOp)
    source = layout_of(body, op.source, op)
    sizes = [source.sizes[one] for one in op.order]
    strides = [source.strides[one] for one in op.order]
    layout = Layout(source.allocated, source.aligned, source.offset, sizes, strides)
    body.bind(op.result, descriptor(body, layout))


def _view(body: FunctionBody, op: Operation) -> None:
    """The result starts where its bytes do: its offset is 0."""
    assert isinstance(op, memref.ViewOp)
    source, type_ = layout_of(body, op.source, op), buffer_type(op.result, op)
    given = iter([body.name(size) for size in op.sizes])
    sizes = [next(given) if n == DYNAMIC_INDEX else str(n) for n in type_.get_shape()]
    strides, _ = contiguous_strides(body, sizes)
    start = body.value(f"getelementptr i8, ptr {source.aligned}, i64 {body.name(op.byte_shift)}")
    body.bind(op.result, descriptor(body, Layout(source.allocated, start, "0", sizes, strides)))


def _collapse_shape(body: FunctionBody, op: Operation) -> None:
    """The elements of a group follow each other: its stride is that of the last dimension."""
    assert isinstance(op, memref.CollapseShapeOp)
    source = layout_of(body, op.src, op)
    sizes, strides = [], []
    for group in groups_of(op):
        size = "1"
        for dimension in group:
            size = _times(body, size, source.sizes[dimension])
        sizes.append(size)
        strides.append(_stride_of_group(op, source, group))
    layout = Layout(source.allocated, source.aligned, source.offset, sizes, strides)
    body.bind(op.result, descriptor(body, layout))


def _stride_of_group(op: memref.CollapseShapeOp, source: Layout, group: Sequence[int]) -> str:
    """That of the last dimension with more than one element: strides of others do not matter."""
    assert isinstance(op.src.type, MemRefType)
    shape = op.src.type.get_shape()
    counting = [one for one in group if shape[one] != 1]
    return source.strides[(counting or group)[-1]] if group else "1"


def _expand_shape(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.ExpandShapeOp)
    source = layout_of(body, op.src, op)
    sizes = _numbers(body, op.static_output_shape, op.output_shape)
    strides = list(sizes)
    for dimension, group in enumerate(groups_of(op)):
        stride = source.strides[dimension]
        for one in reversed(group):
            strides[one] = stride
            stride = _times(body, stride, sizes[one])
    layout = Layout(source.allocated, source.aligned, source.offset, sizes, strides)
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
    memref.CollapseShapeOp.name: _collapse_shape,
    memref.ExpandShapeOp.name: _expand_shape,
    memref.ExtractAlignedPointerAsIndexOp.name: _aligned_pointer,
    memref.ExtractStridedMetaDataOp.name: _extract_strided_metadata,
    memref.MemorySpaceCastOp.name: _same,
    memref.ReinterpretCastOp.name: _reinterpret_cast,
    memref.SubviewOp.name: _subview,
    memref.ViewOp.name: _view,
    TransposeOp.name: _transpose,
}
