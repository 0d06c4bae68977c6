"""Descriptors of buffers: their fields, and the addresses of elements.

    { ptr allocated, ptr aligned, i64 offset, [rank x i64] sizes, [rank x i64] strides }

An address depends on the strides of the buffer. The strides are constants if the type states them,
and come from the descriptor otherwise.

A `memref<*xf32>` is a buffer whose rank is known only at run time. MLIR represents it as a pointer
to a descriptor in the frame of the function that creates it
(https://mlir.llvm.org/docs/TargetLLVMIR/). Here, it is a descriptor by value, with room for
`MAX_DIMENSIONS`. A task can capture such a descriptor, a function can return it, a value can hold
it, and no code must free it.

    { i64 rank, ptr allocated, ptr aligned, i64 offset, [8 x i64] sizes, [8 x i64] strides }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tfrt_nb.jit.function_body import FunctionBody
from tfrt_nb.jit.llvm_types import UNRANKED_TYPE, llvm_type, memref_type
from tfrt_nb.passes.control_flow import fail
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS
from tfrt_runtime.native.layouts import HANDLE_ADDRESS, HANDLE_CONSTANT

_ALLOCATED, _ALIGNED, _OFFSET, _SIZES, _STRIDES = range(5)
"""The positions of a descriptor's fields. In an unranked descriptor, the rank comes before them."""


def buffer_type(value: SSAValue, op: Operation) -> MemRefType:
    """Return the type of a buffer, whose rank must be known."""
    type_ = value.type
    if not isinstance(type_, MemRefType):
        fail(op, f"'{type_}' is not a buffer of known rank")
    return type_


def contiguous_strides(body: FunctionBody, sizes: Sequence[str]) -> tuple[list[str], str]:
    """Return the strides of a contiguous buffer, in elements, and its number of elements."""
    strides: list[str] = []
    count = "1"
    for size in reversed(sizes):
        strides.insert(0, count)
        count = size if count == "1" else body.value(f"mul i64 {count}, {size}")
    return strides, count


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a descriptor, each as an LLVM operand."""

    allocated: str
    aligned: str
    offset: str
    sizes: Sequence[str]
    strides: Sequence[str]


def descriptor(body: FunctionBody, layout: Layout) -> str:
    """Build a descriptor by value."""
    return _filled(body, memref_type(len(layout.sizes)), "poison", layout, 0)


def widened(body: FunctionBody, buffer: SSAValue, op: Operation) -> str:
    """Convert the descriptor of a buffer of known rank to an unranked descriptor."""
    layout = layout_of(body, buffer, op)
    rank = len(layout.sizes)
    if rank > MAX_DIMENSIONS:
        fail(
            op,
            f"a buffer of unknown rank can have at most {MAX_DIMENSIONS} dimensions, but this one "
            f"has {rank}",
        )
    ranked = body.value(f"insertvalue {UNRANKED_TYPE} zeroinitializer, i64 {rank}, 0")
    return _filled(body, UNRANKED_TYPE, ranked, layout, 1)


def _filled(body: FunctionBody, type_: str, value: str, layout: Layout, first: int) -> str:
    """Fill in the fields of a descriptor from a layout.

    `first` is the number of fields before those of the layout.
    """
    fields = [
        (f"ptr {layout.allocated}", f"{first + _ALLOCATED}"),
        (f"ptr {layout.aligned}", f"{first + _ALIGNED}"),
        (f"i64 {layout.offset}", f"{first + _OFFSET}"),
        *((f"i64 {size}", f"{first + _SIZES}, {i}") for i, size in enumerate(layout.sizes)),
        *((f"i64 {step}", f"{first + _STRIDES}, {i}") for i, step in enumerate(layout.strides)),
    ]
    for operand, place in fields:
        value = body.value(f"insertvalue {type_} {value}, {operand}, {place}")
    return value


def layout_of(body: FunctionBody, buffer: SSAValue, op: Operation) -> Layout:
    """Return the fields of a buffer's descriptor; those that its type fixes are constants."""
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
    """Return the handle of a buffer that is never freed while its function runs."""
    # An address has no bits at or above HANDLE_SHIFT, so the handle's generation is 0, like this
    # header.
    header = body.module.constant("i64 0")
    if not is_constant:
        return header
    return body.value(f"getelementptr i8, ptr {header}, i64 {HANDLE_CONSTANT}")


def dead_handle(body: FunctionBody) -> str:
    """Return the handle of a buffer that never existed."""
    # The generation in a plain address is 0, which never equals this header.
    return body.module.constant("i64 1")


def dead_buffer(body: FunctionBody, type_: MemRefType | UnrankedMemRefType) -> str:
    """Return a descriptor whose buffer never existed."""
    handle = f"ptr {dead_handle(body)}, ptr null, i64 0"
    rank = MAX_DIMENSIONS if isinstance(type_, UnrankedMemRefType) else len(type_.get_shape())
    numbers = f", [{rank} x i64] zeroinitializer" * 2 if rank else ""
    first = "i64 0, " if isinstance(type_, UnrankedMemRefType) else ""
    return f"{{ {first}{handle}{numbers} }}"


IS_HEADER, IS_ELEMENT = ", !tbaa !3", ", !tbaa !4"
"""Suffixes of loads and stores that tell LLVM that header words and elements do not alias.

See https://llvm.org/docs/LangRef.html#tbaa-metadata.
"""
IS_UNROLLED = ", !llvm.loop !5"
"""The suffix of a back edge that makes LLVM unroll the loop."""
METADATA = """\
!0 = !{!"memory"}
!1 = !{!"header", !0, i64 0}
!2 = !{!"element", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.full"}"""


def header_of(body: FunctionBody, handle: str) -> str:
    """Return the address of the header word, which says whether a buffer is live."""
    # Mask the pointer instead of an integer, so that LLVM keeps the pointer's provenance.
    return body.call("llvm.ptrmask.p0.i64", "ptr", ("ptr", handle), ("i64", str(HANDLE_ADDRESS)))


def allocated_pointer(body: FunctionBody, buffer: SSAValue) -> str:
    """Return the handle of a buffer."""
    return _field(body, buffer, _ALLOCATED)


def _field(body: FunctionBody, buffer: SSAValue, field: int, *place: int) -> str:
    numbers = field + isinstance(buffer.type, UnrankedMemRefType), *place
    return body.value(f"extractvalue {body.typed(buffer)}, {', '.join(map(str, numbers))}")


def element_address(
    body: FunctionBody, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]
) -> str:
    """Emit code that computes the address of the element at `indices`."""
    type_ = buffer_type(buffer, op)
    base = _field(body, buffer, _ALIGNED)
    position = "0" if isinstance(type_.layout, NoneAttr) else _field(body, buffer, _OFFSET)
    for dimension, index in enumerate(indices):
        distance = stride_of(body, buffer, type_, dimension)
        name = body.name(index)
        # The guards have checked the indices, so the arithmetic stays inside the buffer.
        step = name if distance == "1" else body.value(f"mul nsw i64 {name}, {distance}")
        position = step if position == "0" else body.value(f"add nsw i64 {position}, {step}")
    element = llvm_type(type_.element_type)
    return body.value(f"getelementptr inbounds {element}, ptr {base}, i64 {position}")


def stride_of(body: FunctionBody, buffer: SSAValue, type_: MemRefType, dimension: int) -> str:
    """Return the distance, in elements, between neighbors in a dimension."""
    inner = type_.get_shape()[dimension + 1 :]
    if not isinstance(type_.layout, NoneAttr) or DYNAMIC_INDEX in inner:
        return _field(body, buffer, _STRIDES, dimension)
    return str(prod(inner))


def narrowed(body: FunctionBody, buffer: SSAValue, rank: int) -> Layout:
    """Convert an unranked descriptor to a layout of rank `rank`, the buffer's actual rank."""
    return Layout(
        allocated_pointer(body, buffer),
        _field(body, buffer, _ALIGNED),
        _field(body, buffer, _OFFSET),
        sizes_of(body, buffer)[:rank],
        [_field(body, buffer, _STRIDES, dimension) for dimension in range(rank)],
    )


def sizes_of(body: FunctionBody, buffer: SSAValue) -> list[str]:
    """Return the sizes in an unranked descriptor.

    The size of a dimension that the buffer does not have is 0.
    """
    return [_field(body, buffer, _SIZES, dimension) for dimension in range(MAX_DIMENSIONS)]
