"""`tfrt.return`: what a function or a region gives back.  The one operation without a kernel."""

from __future__ import annotations

from typing import Self

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
