"""Operations of `memref` that make another buffer of the same memory, with MLIR's checks of the result's type.

xDSL takes any type.  Compiled code believes it: the sizes and strides that it says are not read from the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import VerifyException

Number = int | None
"""A size, stride or offset; None where it is known when the program runs only."""


def _known(size: int) -> Number:
    return None if size == DYNAMIC_INDEX else size


def _times(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left * right


def _plus(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left + right


def _numbers(static: DenseArrayBase[IntegerType]) -> list[Number]:
    return [_known(int(number)) for number in static.get_values()]


def contiguous_strides(sizes: Sequence[Number]) -> list[Number]:
    """Those of elements that follow each other."""
    strides: list[Number] = []
    stride: Number = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = _times(stride, size)
    return strides


def layout_of(type_: MemRefType) -> tuple[Number, list[Number]]:
    """The offset and the strides of a buffer.

    Raises:
        VerifyException: if the layout is a map.
    """
    if isinstance(type_.layout, StridedLayoutAttr):
        return type_.layout.get_offset(), list(type_.layout.get_strides())
    if not _is_contiguous(type_):
        raise VerifyException(f"the layout of '{type_}' must be 'strided'")
    return 0, contiguous_strides([_known(size) for size in type_.get_shape()])


def _is_contiguous(type_: MemRefType) -> bool:
    """Whether a type says that its elements follow each other."""
    layout = type_.layout
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr)


def _type_like(
    source: MemRefType, sizes: Sequence[Number], offset: Number, strides: Sequence[Number]
) -> MemRefType:
    """The type of a view with this layout."""
    shape = [DYNAMIC_INDEX if size is None else size for size in sizes]
    layout = StridedLayoutAttr(list(strides), offset)
    return MemRefType(source.element_type, shape, layout, source.memory_space)


def _has_layout(type_: MemRefType, offset: Number, strides: Sequence[Number]) -> bool:
    """Whether a type says this of its elements; strides of dimensions with one element do not matter."""
    found_offset, found = layout_of(type_)
    if _is_contiguous(type_) and None in (offset, *strides):
        return False  # it says that elements follow each other, which is not known
    shape = type_.get_shape()
    return found_offset == offset and all(
        size == 1 or one == other for size, one, other in zip(shape, found, strides, strict=True)
    )


def _require_same(source: MemRefType, result: MemRefType) -> None:
    """The elements and where they are."""
    if source.element_type != result.element_type:
        raise VerifyException(
            f"expected result element type to be '{source.element_type}', but got '{result}'"
        )
    if source.memory_space != result.memory_space:
        raise VerifyException(
            f"different memory spaces specified for source type '{source}' and result memref type"
            f" '{result}'"
        )


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Which dimensions of a view its type has: of those with one element some may be left out.

    None if the type has other sizes.
    """
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        left, wanted = len(sizes) - dimension, len(shape) - len(kept)
        if size == 1 and wanted < left and (not wanted or shape[len(kept)] != 1):
            continue
        kept.append(dimension)
    return kept if [sizes[one] for one in kept] == list(shape) else None


class SubviewOp(memref.SubviewOp):
    """`memref.subview %m[1] [%n] [2] : memref<8xf32> to memref<?xf32, strided<[2], offset: 1>>`."""

    def verify_(self) -> None:
        super().verify_()
        source, result = self.source.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        _require_same(source, result)
        rank = len(source.get_shape())
        offset, strides = layout_of(source)
        starts, steps = _numbers(self.static_offsets), _numbers(self.static_strides)
        sizes = [int(size) for size in self.static_sizes.get_values()]
        for what, numbers in (("offset", starts), ("size", sizes), ("stride", steps)):
            if len(numbers) != rank:
                raise VerifyException(f"expected {rank} {what} values, got {len(numbers)}")
        for start, stride in zip(starts, strides, strict=True):
            offset = _plus(offset, _times(start, stride))
        strides = [_times(step, stride) for step, stride in zip(steps, strides, strict=True)]
        kept = kept_dimensions(sizes, result.get_shape())
        if kept is None or not _has_layout(result, offset, [strides[one] for one in kept]):
            what = "sizes" if kept is None else "layout"
            expected = _type_like(source, [_known(size) for size in sizes], offset, strides)
            raise VerifyException(
                f"expected result type to be '{expected}' or a rank-reduced version."
                f" (mismatch of result {what}), but got '{result}'"
            )


class ExtractStridedMetaDataOp(memref.ExtractStridedMetaDataOp):
    """`memref.extract_strided_metadata %m : memref<?xf32> -> memref<f32>, index, index, index`."""

    # The form that xDSL makes of the class looks them up in the class itself.
    base_buffer, offset, sizes, strides = (
        vars(memref.ExtractStridedMetaDataOp)[name]
        for name in ("base_buffer", "offset", "sizes", "strides")
    )

    def verify_(self) -> None:
        source = self.source.type
        assert isinstance(source, MemRefType)
        base = MemRefType(source.element_type, [], memory_space=source.memory_space)
        inferred = [base, *[IndexType()] * (1 + 2 * len(source.get_shape()))]
        found = list(self.result_types)
        if found != inferred:
            raise VerifyException(
                f"inferred type(s) {_listed(inferred)} are incompatible with return type(s) of operation"
                f" {_listed(found)}"
            )


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{one}'" for one in types)


OPERATIONS: tuple[type[Operation], ...] = (ExtractStridedMetaDataOp, SubviewOp)
"""What replaces operations of xDSL."""
