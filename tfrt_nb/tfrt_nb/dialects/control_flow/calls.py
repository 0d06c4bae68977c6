"""The kernels that call functions by name.

These are `tfrt.call`, `once`, `cond`, `case`, `while`, and `parallel_call`. A callee is a symbol
attribute. A kernel receives its functions in the alphabetical order of the attributes' names.
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from tfrt_nb.dialects.assembly import (
    parse_function_type,
    parse_range,
    parse_symbol,
    parse_types,
    print_attributes,
    print_function_types,
    print_parts,
    print_range,
)
from tfrt_nb.dialects.control_flow.structure import CallingOp, Types
from tfrt_nb.dialects.types import CHAIN, I1, I32, I64


class _NamedCallOp(CallingOp):
    """Writes the leading operands, the functions, the operands that these get, and types."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        leading = [parser.parse_unresolved_operand() for _ in cls.leading]
        attributes: dict[str, Attribute] = {name: parse_symbol(parser) for name in cls.callees}
        operands = parser.parse_op_args_list()
        attributes |= cls._parse_settings(parser)
        attributes |= parser.parse_optional_attr_dict()
        types = parse_function_type(parser)
        return cls.create(
            operands=cls.resolved(parser, leading, operands, types.inputs, types.position),
            result_types=types.outputs,
            attributes=attributes,
        )

    @classmethod
    def _parse_settings(cls, parser: Parser) -> dict[str, Attribute]:
        """Parse the attributes that are written without their names."""
        return {}

    def print(self, printer: Printer) -> None:
        for value in self.operands[: len(self.leading)]:
            print_parts(printer, " ", value)
        for name in self.callees:
            print_parts(printer, " ", self.attributes[name])
        printer.print_string(" " if len(self.callees) > 1 else "")
        printer.print_operands(self.arguments)
        inline = self._print_settings(printer)
        print_attributes(printer, self.attributes, without=(*self.callees, *inline))
        self._print_types(printer)

    def _print_settings(self, printer: Printer) -> tuple[str, ...]:
        """Print the attributes that are written without their names, and return their names."""
        return ()

    def _print_types(self, printer: Printer) -> None:
        print_function_types(printer, self.argument_types, self.result_types)


class CallOp(_NamedCallOp):
    """Runs a function: `tfrt.call @f(%x) : (i32) -> i32`.

    The call is strict unless it has the attribute `{bef.nonstrict}`, before the `:`. A non-strict
    call starts as soon as one of its arguments is available.
    """

    name = "tfrt.call"
    callees = ("callee",)

    def _print_types(self, printer: Printer) -> None:
        printer.print_string(" : ")
        printer.print_operation_type(self)


class OnceOp(_NamedCallOp):
    """`tfrt.once @f(%x) : (i32) -> (i32)`: runs @f once per resource context."""

    name = "tfrt.once"
    callees = ("function",)


class CondOp(_NamedCallOp):
    """Runs one of two functions: `tfrt.cond %c @then @else (%x) : (i32) -> (i32)`.

    The operation waits for the condition and all arguments; with `{bef.nonstrict}` before the `:`,
    only for the condition.
    """

    name = "tfrt.cond"
    leading = ("i1",)
    # The letters in front make the alphabetical order match the order of the functions.
    callees = ("a_true_fn", "b_false_fn")
    roles = ("true function", "false function")


class WhileOp(_NamedCallOp):
    """Runs a function while its last result is true:
    `tfrt.while %c @body(%x) parallel_iterations(1) : (i32) -> (i32)`.

    An iteration starts when all results of the previous one are resolved, whatever
    `parallel_iterations` says.
    """

    name = "tfrt.while"
    leading = ("i1",)
    callees = ("body_fn",)

    @classmethod
    def _parse_settings(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("parallel_iterations")
        parser.parse_punctuation("(")
        iterations = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(")")
        return {"parallel_iterations": IntegerAttr(iterations, I64)}

    def callee_types(self) -> tuple[Types, Types | None]:
        return self.argument_types, (*self.result_types, I1)

    def _print_settings(self, printer: Printer) -> tuple[str, ...]:
        iterations = self.attributes.get("parallel_iterations")
        count = iterations.value.data if isinstance(iterations, IntegerAttr) else 1
        printer.print_string(f" parallel_iterations({count})")
        return ("parallel_iterations",)


class CaseOp(CallingOp):
    """`tfrt.case %i [@b0, @b1] (%ch, %x) : (i32) -> (i32)`

    In that form the first argument and the first result are a chain that the types omit. The form
    of later versions, `(!tfrt.chain, i32) -> (!tfrt.chain, i32)`, is accepted as well.
    """

    name = "tfrt.case"
    leading = ("i32",)
    callees = ("branches",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = parser.parse_unresolved_operand()
        branches = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_symbol(parser)
        )
        operands = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":", " and the types of operands and results")
        start = parser.pos
        inputs = _parse_types_in_parentheses(parser)
        parser.parse_punctuation("->")
        outputs = _parse_types_in_parentheses(parser)
        if len(inputs) == len(operands) - 1:
            inputs, outputs = [CHAIN, *inputs], [CHAIN, *outputs]
        return cls.create(
            operands=cls.resolved(parser, [index], operands, inputs, start),
            result_types=outputs,
            attributes={"branches": ArrayAttr(branches), **attributes},
        )

    @property
    def has_short_form(self) -> bool:
        """Return whether the first argument and result are chains followed by further ones."""
        inputs, outputs = self.operand_types[1:], self.result_types
        return (
            min(len(inputs), len(outputs)) > 1
            and inputs[0] == outputs[0] == CHAIN
            and isinstance(self.attributes.get("branches"), ArrayAttr)
        )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.operands[0], " ", self.attributes["branches"], " ")
        printer.print_operands(self.arguments)
        print_attributes(printer, self.attributes, without=("branches",))
        inputs, outputs = self.argument_types, list(self.result_types)
        if not getattr(printer, "is_head", False):
            inputs, outputs = inputs[1:], outputs[1:]
        print_function_types(printer, inputs, outputs)


class ParallelCallOp(CallingOp):
    """`tfrt.parallel_call.i32 %from to %to fixed %size @f(%x) : !T`: a chain when all is done."""

    name = "tfrt.parallel_call.i32"
    leading = ("i32", "i32", "i32")
    result_words = ("chain",)
    callees = ("callee",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        bounds = parse_range(parser)
        attributes: dict[str, Attribute] = {"callee": parse_symbol(parser)}
        start = parser.pos
        operands = parser.parse_op_args_list()
        attributes |= parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            start = parser.pos
            types = parse_types(parser)
        return cls.create(
            operands=cls.resolved(parser, bounds, operands, types, start),
            result_types=[CHAIN],
            attributes=attributes,
        )

    def callee_types(self) -> tuple[Types, Types | None]:
        return (I32, I32, *self.argument_types), None

    def print(self, printer: Printer) -> None:
        print_range(printer, self)
        print_parts(printer, " ", self.attributes["callee"])
        printer.print_operands(self.arguments)
        print_attributes(printer, self.attributes, without=("callee",))
        if self.arguments:
            print_parts(printer, " : ", self.argument_types)


def _parse_types_in_parentheses(parser: Parser) -> list[Attribute]:
    """Parse `(i32, i32)`: at least one type."""
    parser.parse_punctuation("(")
    types = parse_types(parser)
    parser.parse_punctuation(")")
    return types
