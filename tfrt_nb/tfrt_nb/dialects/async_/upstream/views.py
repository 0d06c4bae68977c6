"""Operations of `memref` that make another buffer of the same memory, with MLIR's checks of the result's type.

xDSL takes any type.  Compiled code believes it: the sizes and strides that it says are not read from the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Self

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
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
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


class ReinterpretCastOp(memref.ReinterpretCastOp):
    """`memref.reinterpret_cast %m to offset: [0], sizes: [2, %n], strides: [4, 1] : memref<8xf32> to ...`."""

    def verify_(self) -> None:
        super().verify_()  # type: ignore[no-untyped-call]
        source, result = self.source.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        _require_same(source, result)
        rank = len(result.get_shape())
        [*offsets], steps = _numbers(self.static_offsets), _numbers(self.static_strides)
        for what, numbers, count in (("offset", offsets, 1), ("stride", steps, rank)):
            if len(numbers) != count:
                raise VerifyException(f"expected {count} {what} values, got {len(numbers)}")
        offset, strides = layout_of(result)
        _require("offset", offsets[0], offset, "")
        for dimension, (given, said) in enumerate(zip(steps, strides, strict=True)):
            _require("stride", given, said, f" in dim = {dimension}")


def _require(what: str, given: Number, said: Number, where: str) -> None:
    """What a type says is what is given; it may say nothing."""
    if said is not None and said != given:
        shown = "dynamic" if given is None else given
        raise VerifyException(
            f"expected result type with {what} = {shown} instead of {said}{where}"
        )


def groups_of(op: memref.AlterShapeOperation) -> list[list[int]]:
    """The dimensions of the larger rank that are one dimension of the smaller one."""
    return [[int(one.value.data) for one in group] for group in op.reassociation]


def _require_groups(op: memref.AlterShapeOperation, many: MemRefType, few: MemRefType) -> None:
    """Each dimension of `many` is in a group, in order, and each dimension of `few` is one."""
    groups = groups_of(op)
    ranks = len(many.get_shape()), len(few.get_shape())
    if len(groups) != ranks[1]:
        raise VerifyException(
            f"expected collapsed rank ({ranks[1]}) to equal the number of reassociation maps"
            f" ({len(groups)})"
        )
    # A buffer of one element without dimensions may get some: it has no group.
    if [one for group in groups for one in group] != list(range(ranks[0] if groups else 0)):
        raise VerifyException("expected reassociation maps to be valid and contiguous")
    if not groups and prod(many.get_shape()) != 1:
        raise VerifyException(f"invalid to reshape '{few}' and '{many}': one has one element")


class CollapseShapeOp(memref.CollapseShapeOp):
    """`memref.collapse_shape %m [[0, 1]] : memref<2x4xf32> into memref<8xf32>`."""

    def verify_(self) -> None:
        source, result = self.src.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        _require_same(source, result)
        _require_groups(self, source, result)
        shape = [_known(size) for size in source.get_shape()]
        offset, strides = layout_of(source)
        sizes: list[Number] = []
        collapsed: list[Number] = []
        for group in groups_of(self):
            size: Number = 1
            for one in group:
                size = _times(size, shape[one])
            sizes.append(size)
            counting = [one for one in group if shape[one] != 1]
            for outer, inner in pairwise(counting):
                step = _times(strides[inner], shape[inner])
                if None not in (step, strides[outer]) and step != strides[outer]:
                    raise VerifyException(
                        "invalid source layout map or collapsing non-contiguous dims"
                    )
            collapsed.append(strides[(counting or group)[-1]])
        if _is_contiguous(source):
            collapsed = contiguous_strides(sizes)
        _require_type("collapsed", source, result, (sizes, offset, collapsed))


class ExpandShapeOp(memref.ExpandShapeOp):
    """`memref.expand_shape %m [[0, 1]] output_shape [2, %n] : memref<?xf32> into memref<2x?xf32>`."""

    def verify_(self) -> None:
        source, result = self.src.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        _require_same(source, result)
        _require_groups(self, result, source)
        sizes = _numbers(self.static_output_shape)
        if sizes.count(None) != len(self.output_shape):
            raise VerifyException(
                f"expected {sizes.count(None)} dynamic sizes, got {len(self.output_shape)}"
            )
        if len(sizes) != len(result.get_shape()):
            raise VerifyException(
                "expected number of static shape dims to be equal to the output rank"
                f" ({len(result.get_shape())}) but found {len(sizes)} inputs instead"
            )
        offset, strides = layout_of(source)
        expanded: list[Number] = [*sizes]
        for dimension, group in enumerate(groups_of(self)):
            stride, product = strides[dimension], prod(sizes[one] or 0 for one in group)
            if None not in [sizes[one] for one in group] and _known(
                source.get_shape()[dimension]
            ) not in (None, product):
                raise VerifyException(
                    f"expected dimension {dimension} of collapsed type to be static value of {product}"
                )
            for one in reversed(group):
                expanded[one] = stride
                stride = _times(stride, sizes[one])
        if not strides or _is_contiguous(source):
            expanded = contiguous_strides(sizes)
        _require_type("expanded", source, result, (sizes, offset, expanded))


def _require_type(
    word: str,
    source: MemRefType,
    result: MemRefType,
    expected: tuple[Sequence[Number], Number, Sequence[Number]],
) -> None:
    """The result has these sizes, offset and strides, and follows each other where the source does."""
    sizes, offset, strides = expected
    is_contiguous = _is_contiguous(source)
    fits = [_known(size) for size in result.get_shape()] == list(sizes)
    if not fits or not (
        (is_contiguous and _is_contiguous(result)) or _has_layout(result, offset, strides)
    ):
        type_ = _type_like(source, sizes, offset, strides)
        if is_contiguous:
            type_ = MemRefType(
                type_.element_type, type_.get_shape(), memory_space=type_.memory_space
            )
        raise VerifyException(f"expected {word} type to be '{type_}' but found '{result}'")


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


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """`memref.transpose %m (i, j) -> (j, i) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>`."""

    name = "memref.transpose"
    source = operand_def(MemRefType)
    permutation = prop_def(AffineMapAttr)
    result = result_def(MemRefType)

    traits = traits_def(NoMemoryEffect())

    @property
    def order(self) -> list[int]:
        """Which dimension of the source each dimension of the result is."""
        results = self.permutation.data.results
        return [one.position for one in results if isinstance(one, AffineDimExpr)]

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        _require_same(source, result)
        order, shape = self.order, source.get_shape()
        if sorted(order) != list(range(len(shape))):
            raise VerifyException("expected a permutation map of same rank as the input")
        offset, strides = layout_of(source)
        moved = [strides[one] for one in order]
        sizes = [shape[one] for one in order]
        if sizes != [*result.get_shape()] or not _has_layout(result, offset, moved):
            expected = _type_like(source, [_known(size) for size in sizes], offset, moved)
            raise VerifyException(
                f"result type '{result}' is not equivalent to the canonical transposed input type"
                f" '{expected}'"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        names, position = _parse_names(parser), parser.pos
        parser.parse_punctuation("->")
        order = _parse_names(parser)
        if sorted(order) != sorted(set(names)):
            parser.raise_error("expected a permutation map", position)
        map_ = AffineMap(len(names), 0, tuple(AffineDimExpr(names.index(name)) for name in order))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_keyword("to")
        return cls.build(
            operands=[source],
            result_types=[parser.parse_type()],
            properties={"permutation": AffineMapAttr(map_)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f" {self.permutation.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


def _parse_names(parser: Parser) -> list[str]:
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)


OPERATIONS: tuple[type[Operation], ...] = (
    *(CollapseShapeOp, ExpandShapeOp, ExtractStridedMetaDataOp),
    *(ReinterpretCastOp, SubviewOp),
)
"""What replaces operations of xDSL."""
MORE_OPERATIONS: tuple[type[Operation], ...] = (TransposeOp,)
"""What xDSL lacks."""
