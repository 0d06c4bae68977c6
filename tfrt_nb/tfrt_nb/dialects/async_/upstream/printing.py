"""`vector.print`, which prints numbers; MLIR's other operations on vectors are unknown here."""

from __future__ import annotations

import re
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Punctuation(StrEnum):
    """What `vector.print` ends with."""

    NO_PUNCTUATION = "no_punctuation"
    NEW_LINE = "newline"
    COMMA = "comma"
    OPEN = "open"
    CLOSE = "close"


@irdl_attr_definition
class PunctuationAttr(EnumAttribute[Punctuation]):
    """`#vector.punctuation<comma>`."""

    name = "vector.punctuation"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Punctuation:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Punctuation)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


_OPERAND = re.compile(r"%[\w$.-]+(?:#\d+)?\s*:(?!\s*\d+\s*(?:=|,\s*%))")
"""A value and what stands before its type: `vector.print` may have none, and results of the next
operation follow."""
_NEW_LINE = PunctuationAttr(Punctuation.NEW_LINE)


@irdl_op_definition
class PrintOp(IRDLOperation):
    """`vector.print %x : f32 punctuation <comma>`, `vector.print str "text"`, or punctuation alone."""

    name = "vector.print"
    source = opt_operand_def()
    punctuation = prop_def(PunctuationAttr, default_value=_NEW_LINE)
    text = opt_prop_def(StringAttr, prop_name="stringLiteral")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = []
        if _OPERAND.match(parser.lexer.input.content, parser.pos) is not None:
            unresolved = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            operands = [parser.resolve_operand(unresolved, parser.parse_type())]
        properties: dict[str, Attribute] = {"punctuation": _NEW_LINE}
        if parser.parse_optional_keyword("str") is not None:
            properties["stringLiteral"] = StringAttr(parser.parse_str_literal())
        if parser.parse_optional_keyword("punctuation") is not None:
            word = PunctuationAttr.parse_parameter(parser)
            properties["punctuation"] = PunctuationAttr(word)
        return cls.build(
            operands=[operands],
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        if self.source is not None:
            printer.print_string(" ")
            printer.print_ssa_value(self.source)
            printer.print_string(" : ")
            printer.print_attribute(self.source.type)
        if self.text is not None:
            printer.print_string(" str ")
            printer.print_string_literal(self.text.data)
        if self.punctuation != _NEW_LINE:
            printer.print_string(f" punctuation <{self.punctuation.data}>")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.text is not None and (self.source is not None or self.punctuation != _NEW_LINE):
            raise VerifyException(
                "failed to verify that `source` or `punctuation` are not set when printing strings"
            )


Vector = Dialect("vector", [PrintOp], [PunctuationAttr])
