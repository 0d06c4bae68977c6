"""`memref`: operations that xDSL lacks, and others with MLIR's custom form and MLIR's checks.

There are three parts: whole buffers, elements that are changed atomically, and views, which are
other buffers of the same memory. xDSL accepts any type for a view. Compiled code relies on the
type: it does not read the sizes and strides that the type states from the buffer.
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
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.assembly import print_parts
from tfrt_nb.dialects.async_.forms import with_operations, written_as
from tfrt_nb.dialects.async_.types import BUFFER
from tfrt_nb.dialects.attribute_printer import AttributePrinter


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
            raise VerifyException(f"a global buffer has sizes; '{type_}' has not")
        if not isinstance(type_.layout, NoneAttr):
            raise VerifyException(f"a global buffer is contiguous; '{type_}' has a layout")

    def print(self, printer: Printer) -> None:
        if self.sym_visibility.data != "public":
            print_parts(printer, " ", self.sym_visibility)
        printer.print_string(" " if self.constant is None else " constant ")
        printer.print_symbol_name(self.sym_name.data)
        print_parts(printer, " : ", self.type)
        value, text = self.initial_value, "uninitialized"
        if isinstance(value, DenseIntOrFPElementsAttr):
            text = _elements_text(value)
        printer.print_string(f" = {text}")
        alignment = {} if self.alignment is None else {"alignment": self.alignment}
        printer.print_op_attributes(alignment | self.attributes)


def _parse_initial_value(parser: Parser, type_: MemRefType) -> Attribute:
    """Parse the elements, whose type is implied; return a unit if there are none: they are zero."""
    if parser.parse_optional_punctuation("=") is None:
        return UnitAttr()
    if parser.parse_optional_keyword("uninitialized") is not None:
        return UnitAttr()
    parser.parse_keyword("dense")
    element = type_.element_type
    if not isinstance(element, IntegerType | IndexType | AnyFloat):
        parser.raise_error(f"a global buffer cannot hold '{element}'")
    return parser.parse_dense_int_or_fp_elements_attr(TensorType(element, type_.get_shape()))


def _elements_text(elements: DenseIntOrFPElementsAttr) -> str:
    """Return `dense<...>` without the type that follows it."""
    stream = StringIO()
    AttributePrinter(stream).print_attribute(elements)
    text, _, _ = stream.getvalue().rpartition(" : ")
    return text


_Buffer = MemRefType | UnrankedMemRefType


@written_as("$source `,` $destination attr-dict `:` type($source) `to` type($destination)")
class CopyOp(memref.CopyOp):
    """`memref.copy %a, %b : memref<4xf32> to memref<?xf32>`: sizes may be known on one side
    only.
    """

    def verify_(self) -> None:
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
    """Return whether one buffer may be cast to the other: one of them may have any rank."""
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


@irdl_op_definition
class RankOp(IRDLOperation):
    """`memref.rank %m : memref<*xf32>`."""

    name = "memref.rank"
    source = operand_def(BUFFER)
    rank = result_def(IndexType)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$source attr-dict `:` type($source)"

    def __init__(self, source: SSAValue) -> None:
        Operation.__init__(self, operands=[source], result_types=[IndexType()])


# Elements

_KINDS = [
    "addf",
    "addi",
    "assign",
    "maximumf",
    "maxs",
    "maxu",
    "minimumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "andi",
    "maxnumf",
    "minnumf",
    "xori",
]
"""The kinds of `memref.atomic_rmw`, in the order of MLIR's numbers."""


class AtomicRMWOp(memref.AtomicRMWOp):
    """`memref.atomic_rmw addi %v, %m[%i] : (i64, memref<4xi64>) -> i64`."""

    @property
    def operation(self) -> str:
        """Return the operation on the old value and the operand."""
        return _KINDS[self.kind.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        word = parser.parse_identifier()
        if word not in _KINDS:
            parser.raise_error(f"expected one of {', '.join(_KINDS)}", position)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        given = parser.resolve_operands([value, buffer], type_.inputs.data, position)
        return cls.build(
            operands=[*given, _resolved(parser, indices)],
            result_types=type_.outputs.data,
            properties={"kind": IntegerAttr(_KINDS.index(word), i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        element = (self.memref, "[", self.indices, "]")
        print_parts(printer, f" {self.operation} ", self.value, ", ", *element)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([self.value.type, self.memref.type], [self.result.type])

    def verify_(self) -> None:
        buffer = self.memref.type
        if isinstance(buffer, MemRefType) and buffer.element_type != self.value.type:
            text = "failed to verify that value type matches element type of memref"
            raise VerifyException(text)
        self.get_irdl_definition().verify(self)
        if not 0 <= self.kind.value.data < len(_KINDS):
            raise VerifyException("attribute 'kind' is none of the known operations")
        _verify_indices(self, self.memref, self.indices)
        if self.operation == "assign":
            return
        is_of_floats = self.operation.endswith("f")
        expected = "a floating-point" if is_of_floats else "an integer"
        if not isinstance(self.value.type, AnyFloat if is_of_floats else IntegerType):
            raise VerifyException(f"with kind '{self.operation}' expects {expected} type")


@irdl_op_definition
class GenericAtomicRMWOp(IRDLOperation):
    """`memref.generic_atomic_rmw %m[%i] : memref<4xf32> { ^bb0(%now: f32): ... }`.

    The region computes the new element from the current one, possibly several times.
    """

    name = "memref.generic_atomic_rmw"
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    result = result_def(AnyAttr())
    body = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        buffer = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, MemRefType):
            parser.raise_error(f"expected a memref type, but got '{type_}'", position)
        operand, positions = parser.resolve_operand(buffer, type_), _resolved(parser, indices)
        body = parser.parse_region()
        return cls.build(
            operands=[operand, positions],
            result_types=[type_.element_type],
            regions=[body],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        element = (self.memref, "[", self.indices, "]")
        print_parts(printer, " ", *element, " : ", self.memref.type, " ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        _verify_indices(self, self.memref, self.indices)
        if len(self.body.blocks) != 1 or len(self.body.block.args) != 1:
            raise VerifyException("expected single number of entry block arguments")
        assert isinstance(self.memref.type, MemRefType)
        element = self.memref.type.element_type
        if self.body.block.args[0].type != self.result.type or self.result.type != element:
            raise VerifyException("expected block argument of the same type result type")
        if not isinstance(self.body.block.last_op, AtomicYieldOp):
            raise VerifyException("expects its region to terminate with 'memref.atomic_yield'")
        for nested in self.body.walk():
            if not isinstance(nested, AtomicYieldOp) and not _is_pure(nested):
                raise VerifyException(
                    "should contain only operations with no side effects in its body"
                )


def _is_pure(op: Operation) -> bool:
    """Return whether an operation itself only computes.

    Nested operations are checked separately.
    """
    dialect = op.name.partition(".")[0]
    is_choice = op.name in ("scf.if", "scf.index_switch", "scf.yield")
    return dialect in ("arith", "math") or is_choice or op.has_trait(Pure)


@irdl_op_definition
class AtomicYieldOp(IRDLOperation):
    """`memref.atomic_yield %x : f32`: the new element."""

    name = "memref.atomic_yield"
    result = operand_def(AnyAttr())

    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(GenericAtomicRMWOp)))

    assembly_format = "$result attr-dict `:` type($result)"

    def verify_(self) -> None:
        parent = self.parent_op()
        assert isinstance(parent, GenericAtomicRMWOp)
        if self.result.type != parent.result.type:
            raise VerifyException(
                f"types mismatch between yield op: '{self.result.type}' and its parent: "
                f"'{parent.result.type}'"
            )


def _verify_indices(op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    assert isinstance(buffer.type, MemRefType)
    if len(indices) != len(buffer.type.get_shape()):
        raise VerifyException("expects the number of subscripts to be equal to memref rank")


def _parse_indices(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def _resolved(parser: Parser, indices: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    return [parser.resolve_operand(index, IndexType()) for index in indices]


# Views

Number = int | None
"""A size, stride or offset; None if it is known only at run time."""


def _known(size: int) -> Number:
    return None if size == DYNAMIC_INDEX else size


def _times(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left * right


def _plus(left: Number, right: Number) -> Number:
    return None if left is None or right is None else left + right


def _numbers(static: DenseArrayBase[IntegerType]) -> list[Number]:
    return [_known(int(number)) for number in static.get_values()]


def contiguous_strides(sizes: Sequence[Number]) -> list[Number]:
    """Return the strides of elements that are contiguous."""
    strides: list[Number] = []
    stride: Number = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = _times(stride, size)
    return strides


def layout_of(type_: MemRefType) -> tuple[Number, list[Number]]:
    """Return the offset and the strides of a buffer.

    Raises:
        VerifyException: if the layout is a map.
    """
    if isinstance(type_.layout, StridedLayoutAttr):
        return type_.layout.get_offset(), list(type_.layout.get_strides())
    if not _is_contiguous(type_):
        raise VerifyException(f"the layout of '{type_}' must be 'strided'")
    return 0, contiguous_strides([_known(size) for size in type_.get_shape()])


def _is_contiguous(type_: MemRefType) -> bool:
    """Return whether a type states that its elements are contiguous."""
    layout = type_.layout
    if isinstance(layout, AffineMapAttr):
        return layout.data == AffineMap.identity(layout.data.num_dims)
    return isinstance(layout, NoneAttr)


def _type_like(
    source: MemRefType, sizes: Sequence[Number], offset: Number, strides: Sequence[Number]
) -> MemRefType:
    """Return the type of a view with this layout."""
    shape = [DYNAMIC_INDEX if size is None else size for size in sizes]
    layout = StridedLayoutAttr(list(strides), offset)
    return MemRefType(source.element_type, shape, layout, source.memory_space)


def _has_layout(type_: MemRefType, offset: Number, strides: Sequence[Number]) -> bool:
    """Return whether a type states this layout.

    Strides of dimensions with one element do not matter.
    """
    found_offset, found = layout_of(type_)
    if _is_contiguous(type_) and None in (offset, *strides):
        return False  # the type states contiguous elements, which is not known
    shape = type_.get_shape()
    return found_offset == offset and all(
        size == 1 or one == other for size, one, other in zip(shape, found, strides, strict=True)
    )


def _require_same(source: MemRefType, result: MemRefType) -> None:
    """Check that the element types and the memory spaces are the same."""
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
    """Return the dimensions of a view that its type keeps, None if the type has other sizes.

    Some dimensions with one element may be dropped.
    """
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        left, wanted = len(sizes) - dimension, len(shape) - len(kept)
        # Drop a dimension while more of them are left than the type has.
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

    # The form that xDSL derives from the class looks these up in the class itself.
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
