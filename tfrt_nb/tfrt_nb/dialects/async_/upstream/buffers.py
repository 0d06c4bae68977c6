"""`memref` in MLIR's custom form where xDSL has only the generic one, and operations that it lacks."""

from __future__ import annotations

from typing import Self

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import BUFFER

_Buffer = MemRefType | UnrankedMemRefType


class CopyOp(memref.CopyOp):
    """`memref.copy %a, %b : memref<4xf32> to memref<?xf32>`: sizes may be known on one side only."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        target = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        values = [parser.resolve_operand(source, parser.parse_type())]
        parser.parse_keyword("to")
        values.append(parser.resolve_operand(target, parser.parse_type()))
        return cls.build(operands=values, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute, " to ")

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


def _arrow(name: str) -> str:
    """What stands between the types of an operation of that name."""
    return "to" if name in ("memref.cast", "memref.memory_space_cast") else "->"


class _TypedForm:
    """`name %m : type` with another type behind `to` or `->`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(unresolved, parser.parse_type())
        return cls.build(  # type: ignore[attr-defined, no-any-return]
            operands=[source], result_types=[cls._result_type(parser)], attributes=attributes
        )

    @classmethod
    def _result_type(cls, parser: Parser) -> Attribute:
        arrow = _arrow(cls.name)  # type: ignore[attr-defined]
        if arrow == "->":
            parser.parse_punctuation("->")
        else:
            parser.parse_keyword(arrow)
        return parser.parse_type()

    def print(self, printer: Printer) -> None:
        assert isinstance(self, Operation)
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        # By name: passes print operations of xDSL's own class in this form.
        printer.print_string(f" {_arrow(self.name)} ")
        printer.print_attribute(self.results[0].type)


class CastOp(_TypedForm, memref.CastOp):
    """`memref.cast %m : memref<4xf32> to memref<?xf32>`."""

    def verify_(self) -> None:
        super().verify_()
        source, target = self.source.type, self.dest.type
        if not _are_castable(source, target):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _are_castable(source: Attribute, target: Attribute) -> bool:
    """Whether one buffer may be the other: one of them may be of any rank."""
    assert isinstance(source, _Buffer) and isinstance(target, _Buffer)
    if isinstance(source, MemRefType) and isinstance(target, MemRefType):
        are_shaped_alike = _have_compatible_shapes(source, target)
    else:
        are_shaped_alike = isinstance(source, MemRefType) or isinstance(target, MemRefType)
    return are_shaped_alike and source.element_type == target.element_type


class MemorySpaceCastOp(_TypedForm, memref.MemorySpaceCastOp):
    """`memref.memory_space_cast %m : memref<?xf32, 1> to memref<?xf32>`."""


class ExtractAlignedPointerOp(_TypedForm, memref.ExtractAlignedPointerAsIndexOp):
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


OPERATIONS: tuple[type[Operation], ...] = (
    CastOp,
    CopyOp,
    ExtractAlignedPointerOp,
    MemorySpaceCastOp,
    RankOp,
)
"""What replaces operations of xDSL."""
