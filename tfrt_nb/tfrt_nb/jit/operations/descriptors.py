"""Descriptors of buffers: what they hold, and where elements are.

An address is computed from the strides that the type fixes, and from the descriptor where it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tfrt_nb.jit.function_body import FunctionBody
from tfrt_nb.jit.llvm_types import llvm_type, memref_type
from tfrt_nb.passes.errors import fail
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS
from tfrt_runtime.native.async_layouts import HANDLE_ADDRESS, HANDLE_CONSTANT

_ALLOCATED, _ALIGNED, _OFFSET, _SIZES, _STRIDES = range(5)


def buffer_type(value: SSAValue, op: Operation) -> MemRefType:
    type_ = value.type
    if not isinstance(type_, MemRefType):
        fail(op, f"'{type_}' is not a buffer of known rank")
    return type_


def element_size(type_: MemRefType) -> str:
    element = llvm_type(type_.element_type)
    return f"ptrtoint (ptr getelementptr ({element}, ptr null, i64 1) to i64)"


def contiguous_strides(body: FunctionBody, sizes: Sequence[str]) -> tuple[list[str], str]:
    """Strides in elements, and the number of all elements."""
    strides: list[str] = []
    count = "1"
    for size in reversed(sizes):
        strides.insert(0, count)
        count = size if count == "1" else body.value(f"mul i64 {count}, {size}")
    return strides, count


@dataclass(frozen=True, slots=True)
class Layout:
    """What a descriptor holds, as operands."""

    allocated: str
    aligned: str
    offset: str
    sizes: Sequence[str]
    strides: Sequence[str]


def descriptor(body: FunctionBody, layout: Layout) -> str:
    """A descriptor by value."""
    type_ = memref_type(len(layout.sizes))
    fields = [
        (_ALLOCATED, f"ptr {layout.allocated}"),
        (_ALIGNED, f"ptr {layout.aligned}"),
        (_OFFSET, f"i64 {layout.offset}"),
    ]
    value = "poison"
    for index, operand in fields:
        value = body.value(f"insertvalue {type_} {value}, {operand}, {index}")
    for index, numbers in ((_SIZES, layout.sizes), (_STRIDES, layout.strides)):
        for dimension, number in enumerate(numbers):
            place = f"{index}, {dimension}"
            value = body.value(f"insertvalue {type_} {value}, i64 {number}, {place}")
    return value


def layout_of(body: FunctionBody, buffer: SSAValue, op: Operation) -> Layout:
    """What the descriptor of a buffer holds: constants where its type says so."""
    type_ = buffer_type(buffer, op)
    shape = type_.get_shape()
    return Layout(
        _field(body, buffer, _ALLOCATED),
        _field(body, buffer, _ALIGNED),
        "0" if isinstance(type_.layout, NoneAttr) else _field(body, buffer, _OFFSET),
        [
            _field(body, buffer, _SIZES, dimension) if size == DYNAMIC_INDEX else str(size)
            for dimension, size in enumerate(shape)
        ],
        [stride_of(body, buffer, type_, dimension) for dimension in range(len(shape))],
    )


def static_handle(body: FunctionBody, *, is_constant: bool = False) -> str:
    """The handle of a buffer that never ends, or not before the function that has it."""
    header = body.module.constant("i64 0")
    if not is_constant:
        return header
    return body.value(f"getelementptr i8, ptr {header}, i64 {HANDLE_CONSTANT}")


def dead_handle(body: FunctionBody) -> str:
    """The handle of a buffer that never was."""
    return body.module.constant("i64 1")


def dead_buffer(body: FunctionBody, type_: MemRefType | UnrankedMemRefType) -> str:
    """A descriptor whose buffer never was."""
    handle = f"ptr {dead_handle(body)}, ptr null, i64 0"
    rank = MAX_DIMENSIONS if isinstance(type_, UnrankedMemRefType) else len(type_.get_shape())
    numbers = f", [{rank} x i64] zeroinitializer" * 2 if rank else ""
    first = "i64 0, " if isinstance(type_, UnrankedMemRefType) else ""
    return f"{{ {first}{handle}{numbers} }}"


IS_HEADER, IS_ELEMENT = ", !tbaa !3", ", !tbaa !4"
"""At the end of a load or store: LLVM may take words of headers and elements for different memory."""
IS_UNROLLED = ", !llvm.loop !5"
"""At the end of a branch back to the start of a loop: LLVM unrolls it."""
METADATA = """\
!0 = !{!"memory"}
!1 = !{!"header", !0, i64 0}
!2 = !{!"element", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.full"}"""


def header_of(body: FunctionBody, handle: str) -> str:
    """Where the word is that says whether a buffer is live."""
    # Not by integers: LLVM keeps knowing which memory the pointer is of.
    mask = str(HANDLE_ADDRESS)
    return body.call("llvm.ptrmask.p0.i64", "ptr", ("ptr", handle), ("i64", mask))


def allocated_pointer(body: FunctionBody, buffer: SSAValue) -> str:
    """The handle of a buffer."""
    return _field(body, buffer, _ALLOCATED)


def _field(body: FunctionBody, buffer: SSAValue, *place: int) -> str:
    return body.value(f"extractvalue {body.typed(buffer)}, {', '.join(map(str, place))}")


def element_address(
    body: FunctionBody, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]
) -> str:
    """The address of an element."""
    type_ = buffer_type(buffer, op)
    base = _field(body, buffer, _ALIGNED)
    position = "0"
    if not isinstance(type_.layout, NoneAttr):
        position = _field(body, buffer, _OFFSET)
    for dimension, index in enumerate(indices):
        distance = stride_of(body, buffer, type_, dimension)
        step = body.name(index)
        if distance != "1":
            step = body.value(f"mul nsw i64 {step}, {distance}")
        position = step if position == "0" else body.value(f"add nsw i64 {position}, {step}")
    element = llvm_type(type_.element_type)
    return body.value(f"getelementptr inbounds {element}, ptr {base}, i64 {position}")


def stride_of(body: FunctionBody, buffer: SSAValue, type_: MemRefType, dimension: int) -> str:
    """How far apart neighbours in a dimension are, in elements."""
    inner = type_.get_shape()[dimension + 1 :]
    if not isinstance(type_.layout, NoneAttr) or DYNAMIC_INDEX in inner:
        return _field(body, buffer, _STRIDES, dimension)
    stride = 1
    for size in inner:
        stride *= size
    return str(stride)
