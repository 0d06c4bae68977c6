"""`tfrt.return`: what a function or a region gives back.  The one operation without a kernel."""

from __future__ import annotations

from typing import Self, cast

from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.assembly import (
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)


class ReturnOp(Operation):
    """`tfrt.return %x, %ch : i32, !tfrt.chain`"""

    name = "tfrt.return"
    traits = OpTraits(lambda: (IsTerminator(),))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        attributes = parser.parse_optional_attr_dict()
        operands = parse_operands(parser, on_this_line=True)
        types: list[Attribute] = []
        if operands:
            parser.parse_punctuation(":", " and the types of the operands")
            start = parser.pos
            types = parse_types(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, types, start), attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self.attributes)
        if self.operands:
            printer.print_string(" ")
            print_operands(printer, self.operands)
            printer.print_string(" : ")
            print_types(printer, self.operand_types)


class KernelReturnOp(ReturnOp):
    """`kernel.return %x`, with types or without, at the end of a `hex.run`; read as `tfrt.return`."""

    name = "kernel.return"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        operands = parse_operands(parser, on_this_line=True)
        if parser.parse_optional_punctuation(":") is not None:
            values = parser.resolve_operands(operands, parse_types(parser), start)
        else:
            for operand in operands:
                if operand.operand_name not in parser.ssa_values:
                    parser.raise_error("use of undeclared SSA value name", operand.span)
                if operand.index >= len(parser.ssa_values[operand.operand_name]):
                    parser.raise_error("reference to invalid result number", operand.span)
            values = [parser.ssa_values[one.operand_name][one.index] for one in operands]
        return cast(Self, ReturnOp.create(operands=values))
