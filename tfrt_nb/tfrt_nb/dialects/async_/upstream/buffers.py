"""`memref`: operations that xDSL lacks, and operations with MLIR's custom form and checks.

The operations concern whole buffers, elements that are changed atomically, and views. A view is
another buffer in the same memory. xDSL accepts any type for a view, but the operations here check
the type, because compiled code relies on the sizes and strides that it states.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Self

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import BUFFER, PlainOp, plain_op, with_operations, written_as
from tfrt_nb.dialects.async_.upstream.arithmetic import (
    AtomicRMWOp,
    AtomicYieldOp,
    GenericAtomicRMWOp,
)
from tfrt_nb.dialects.attribute_printer import AttributePrinter
from tfrt_nb.dialects.types import print_parts


class GlobalOp(memref.GlobalOp):
    """`memref.global "private" constant @cells : memref<2xi64> = dense<0>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_str_literal() or "public"
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, MemRefType):
            parser.raise_error(f"expected a memref type, but got '{type_}'", position)
        value = _parse_initial_value(parser, type_)
        attributes = parser.parse_optional_attr_dict()
        return cls.build(
            properties={
                "sym_name": name,
                "sym_visibility": StringAttr(visibility),
                "type": type_,
                "initial_value": value,
                "constant": UnitAttr() if constant else None,
                "alignment": attributes.pop("alignment", None),
            },
            attributes=attributes,
        )

    def verify_(self) -> None:
        super().verify_()
        type_ = self.type
        if not isinstance(type_, MemRefType) or not type_.has_static_shape():
            raise VerifyException(f"a global buffer needs static sizes, found '{type_}'")
        if not isinstance(type_.layout, NoneAttr):
            raise VerifyException(f"a global buffer must be contiguous, but '{type_}' has a layout")

    def print(self, printer: Printer) -> None:
        if self.sym_visibility.data != "public":
            print_parts(printer, " ", self.sym_visibility)
        printer.print_string(" " if self.constant is None else " constant ")
        printer.print_symbol_name(self.sym_name.data)
        print_parts(printer, " : ", self.type)
        value, text = self.initial_value, "uninitialized"
        if isinstance(value, DenseIntOrFPElementsAttr):
            stream = StringIO()
            AttributePrinter(stream).print_attribute(value)
            text = stream.getvalue().rpartition(" : ")[0]  # without the type
        printer.print_string(f" = {text}")
        alignment = {} if self.alignment is None else {"alignment": self.alignment}
        printer.print_op_attributes(alignment | self.attributes)


def _parse_initial_value(parser: Parser, type_: MemRefType) -> Attribute:
    """Parse the initial elements of a global, whose type the global's type implies.

    Without elements, return a unit attribute, which means zeros.
    """
    has_value = parser.parse_optional_punctuation("=") is not None
    if not has_value or parser.parse_optional_keyword("uninitialized") is not None:
        return UnitAttr()
    parser.parse_keyword("dense")
    element = type_.element_type
    if not isinstance(element, IntegerType | IndexType | AnyFloat):
        parser.raise_error(f"a global buffer cannot hold '{element}'")
    return parser.parse_dense_int_or_fp_elements_attr(TensorType(element, type_.get_shape()))


_Buffer = MemRefType | UnrankedMemRefType


@written_as("$source `,` $destination attr-dict `:` type($source) `to` type($destination)")
class CopyOp(memref.CopyOp):
    """Copies a buffer: `memref.copy %a, %b : memref<4xf32> to memref<?xf32>`.

    A size may be static in one type and dynamic in the other.
    """

    def verify_(self) -> None:
        # `super().verify_()` would also require equal shapes.
        self.get_irdl_definition().verify(self)
        source, target = self.source.type, self.destination.type
        assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
        if source.element_type != target.element_type:
            raise VerifyException("requires the same element type for all operands")
        if not _have_compatible_shapes(source, target):
            raise VerifyException("requires the same shape for all operands")


def _have_compatible_shapes(one: MemRefType, other: MemRefType) -> bool:
    sizes, others = one.get_shape(), other.get_shape()
    return len(sizes) == len(others) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(sizes, others, strict=True)
    )


_CAST = "$source attr-dict `:` type($source) `to` type($dest)"


@written_as(_CAST)
class CastOp(memref.CastOp):
    """`memref.cast %m : memref<4xf32> to memref<?xf32>`."""

    def verify_(self) -> None:
        super().verify_()
        source, target = self.source.type, self.dest.type
        if not _are_castable(source, target):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _are_castable(source: Attribute, target: Attribute) -> bool:
    """Return whether a buffer of one type may be cast to the other type.

    One of the two types may have an unknown rank.
    """
    assert isinstance(source, _Buffer) and isinstance(target, _Buffer)
    if isinstance(source, MemRefType) and isinstance(target, MemRefType):
        are_shaped_alike = _have_compatible_shapes(source, target)
    else:
        are_shaped_alike = isinstance(source, MemRefType) or isinstance(target, MemRefType)
    return are_shaped_alike and source.element_type == target.element_type


@written_as(_CAST)
class MemorySpaceCastOp(memref.MemorySpaceCastOp):
    """`memref.memory_space_cast %m : memref<?xf32, 1> to memref<?xf32>`."""


@written_as("$source attr-dict `:` type($source) `->` type($aligned_pointer)")
class ExtractAlignedPointerOp(memref.ExtractAlignedPointerAsIndexOp):
    """`memref.extract_aligned_pointer_as_index %m : memref<?xf32> -> index`."""


@plain_op
class RankOp(PlainOp):
    """`memref.rank %m : memref<*xf32>`."""

    name = "memref.rank"
    source = operand_def(BUFFER)
    rank = result_def(IndexType())

    traits = traits_def(NoMemoryEffect())


# Elements


# Views


Number = int | None
"""A size, stride or offset, or None if its value is known only at run time."""


def _known(size: int) -> Number:
    return None if size == DYNAMIC_INDEX else size


def _times(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left * right


def _plus(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left + right


def _numbers(static: DenseArrayBase[IntegerType]) -> list[Number]:
    return [_known(int(number)) for number in static.get_values()]


def contiguous_strides(sizes: Sequence[Number]) -> list[Number]:
    """Return the strides of a contiguous buffer with these sizes."""
    strides: list[Number] = []
    stride: Number = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = _times(stride, size)
    return strides


def layout_of(type_: MemRefType) -> tuple[Number, list[Number]]:
    """Return the offset and the strides that a buffer's type states.

    Raises:
        VerifyException: if the layout is an affine map.
    """
    if isinstance(type_.layout, StridedLayoutAttr):
        return type_.layout.get_offset(), list(type_.layout.get_strides())
    if not _is_contiguous(type_):
        raise VerifyException(f"the layout of '{type_}' must be 'strided'")
    return 0, contiguous_strides([_known(size) for size in type_.get_shape()])


def _is_contiguous(type_: MemRefType) -> bool:
    """Return whether a type states that the elements are contiguous."""
    layout = type_.layout
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr)


def _type_like(
    source: MemRefType, sizes: Sequence[Number], offset: Number, strides: Sequence[Number]
) -> MemRefType:
    """Return the type of a view of `source` with this layout."""
    shape = [DYNAMIC_INDEX if size is None else size for size in sizes]
    layout = StridedLayoutAttr(list(strides), offset)
    return MemRefType(source.element_type, shape, layout, source.memory_space)


def _has_layout(type_: MemRefType, offset: Number, strides: Sequence[Number]) -> bool:
    """Return whether a type states this layout.

    The strides of dimensions with one element do not matter.
    """
    found_offset, found = layout_of(type_)
    if _is_contiguous(type_) and None in (offset, *strides):
        return False  # the type says that the elements are contiguous, but that is not known
    shape = type_.get_shape()
    return found_offset == offset and all(
        size == 1 or one == other for size, one, other in zip(shape, found, strides, strict=True)
    )


def kept_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Return which dimensions of a view remain in its type.

    The type may drop dimensions with one element. Return None if the sizes do not match.
    """
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        left, wanted = len(sizes) - dimension, len(shape) - len(kept)
        # Drop a dimension only while more dimensions are left than the type still needs.
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
        if source.element_type != result.element_type:
            raise VerifyException(
                f"expected result element type to be '{source.element_type}', but got '{result}'"
            )
        if source.memory_space != result.memory_space:
            raise VerifyException(
                f"different memory spaces specified for source type '{source}' and result memref"
                f" type '{result}'"
            )
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

    # xDSL's generated parser and printer look these up in this class itself, not in its bases.
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
                f"inferred type(s) {_listed(inferred)} are incompatible with return type(s) of "
                f"operation {_listed(found)}"
            )


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{one}'" for one in types)


MemRef = with_operations(
    memref.MemRef,
    (
        AtomicRMWOp,
        CastOp,
        CopyOp,
        ExtractAlignedPointerOp,
        ExtractStridedMetaDataOp,
        GlobalOp,
        MemorySpaceCastOp,
        RankOp,
        SubviewOp,
    ),
    (AtomicYieldOp, GenericAtomicRMWOp),
    without=(
        *(memref.AllocaScopeOp, memref.AllocaScopeReturnOp, memref.ViewOp),
        *(memref.CollapseShapeOp, memref.ExpandShapeOp, memref.ReinterpretCastOp),
    ),
)
