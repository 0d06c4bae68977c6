"""The kernels that call functions by name, and the structure that control flow operations share.

The kernels are `tfrt.call`, `once`, `cond`, `case`, `while`, and `parallel_call`. A callee is a
symbol attribute. A kernel receives its functions in the alphabetical order of the attributes'
names.

A control flow operation has a fixed number of leading operands. The other operands are the
arguments that it passes to functions or regions, which end with `tfrt.return`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.types import (
    CHAIN,
    I1,
    I32,
    I64,
    WORDS,
    NamesItsRegionArguments,
    description,
    parse_function_type,
    parse_operands,
    parse_range,
    parse_symbol,
    parse_types,
    print_attributes,
    print_function_types,
    print_parts,
    print_range,
    print_typed_operands,
)
from tfrt_runtime.diagnostics import counted

Types: TypeAlias = tuple[Attribute, ...]


class ControlFlowOp(Operation):
    """An operation that passes operands to functions or regions.

    `leading` contains the type words of the leading operands, such as the condition. `result_words`
    contains the type words of the results, or None if any results are allowed.
    """

    traits = OpTraits(lambda: ())
    leading: ClassVar[tuple[str, ...]] = ()
    result_words: ClassVar[tuple[str, ...] | None] = None
    region_count: ClassVar[int] = 0

    @classmethod
    def resolved(
        cls,
        parser: Parser,
        leading: Sequence[UnresolvedOperand],
        operands: Sequence[UnresolvedOperand],
        types: Sequence[Attribute],
        position: int,
    ) -> list[SSAValue]:
        """Return the values of the leading operands and the other operands.

        `position` is the position of `types` in the source.
        """
        return [
            *parser.resolve_operands(leading, [WORDS[word] for word in cls.leading], position),
            *parser.resolve_operands(operands, types, position),
        ]

    @property
    def arguments(self) -> tuple[SSAValue, ...]:
        """Return the operands that the operation passes to functions or regions."""
        return tuple(self.operands[len(self.leading) :])

    @property
    def argument_types(self) -> Types:
        """Return the types of the operands that the operation passes to functions or regions."""
        return tuple(value.type for value in self.arguments)

    def verify_(self) -> None:
        types = self.operand_types
        if len(types) < len(self.leading):
            raise VerifyException(
                f"expected {len(self.leading)} or more operands, but found {len(types)}"
            )
        for index, word in enumerate(self.leading):
            if types[index] != WORDS[word]:
                raise VerifyException(
                    f"operand #{index} must be {description(word)}, but got '{types[index]}'"
                )
        if len(self.regions) != self.region_count:
            raise VerifyException(
                f"requires {counted(self.region_count, 'region')}, but has {len(self.regions)}"
            )
        words = self.result_words
        expected = None if words is None else tuple(WORDS[word] for word in words)
        if expected is not None and self.results.types != expected:
            raise VerifyException(
                f"must have results of the types ({', '.join(map(str, expected))})"
            )


class CallingOp(ControlFlowOp):
    """An operation that calls functions.

    `callees` contains the names of the attributes that hold the functions.
    """

    callees: ClassVar[tuple[str, ...]] = ()
    roles: ClassVar[tuple[str, ...]] = ()
    """The names for the callees in error messages, in order, if there are several callees."""

    def callee_symbols(self) -> Iterator[SymbolRefAttr]:
        """Yield the functions that the operation may call."""
        for name in self.callees:
            attribute = self.attributes[name]
            for symbol in attribute if isinstance(attribute, ArrayAttr) else (attribute,):
                assert isinstance(symbol, SymbolRefAttr), "verified"
                yield symbol

    def callee_types(self) -> tuple[Types, Types | None]:
        """Return the argument and result types that a callee must have.

        The result types are None if any results are allowed.
        """
        return self.argument_types, tuple(self.result_types)

    def verify_(self) -> None:
        super().verify_()
        for name in self.callees:
            if name not in self.attributes:
                raise VerifyException(f"requires attribute '{name}'")
            named = self.attributes[name]
            symbols = named.data if isinstance(named, ArrayAttr) else (named,)
            if not all(isinstance(symbol, SymbolRefAttr) for symbol in symbols):
                raise VerifyException(f"attribute '{name}' must name a function")


class BodyOp(ControlFlowOp):
    """An operation that runs regions.

    The operands after the leading ones become the regions' arguments.
    """

    traits = OpTraits(lambda: (NamesItsRegionArguments(), IsolatedFromAbove()))
    region_count = 1

    @classmethod
    def body_positions(cls, operand_count: int) -> Sequence[int]:
        """Return the positions of the operands that become the regions' arguments."""
        return range(len(cls.leading), operand_count)

    @property
    def body_arguments(self) -> tuple[SSAValue, ...]:
        """Return the operands that become the regions' arguments."""
        operands = self.operands
        return tuple([operands[index] for index in self.body_positions(len(operands))])

    def accepts_return(self, types: Types) -> bool:
        """Return whether a region may return values of these types."""
        return types == tuple(self.result_types)

    def verify_(self) -> None:
        super().verify_()
        expected = tuple(value.type for value in self.body_arguments)
        for index, region in enumerate(self.regions):
            if not region.blocks:
                raise VerifyException(f"region #{index} is empty")
            if tuple(region.blocks[0].arg_types) != expected:
                raise VerifyException(
                    f"the arguments of region #{index} do not have the types of the operands"
                )


class ReturnOp(Operation):
    """Returns the results of a function or a region: `tfrt.return %x, %ch : i32, !tfrt.chain`.

    The operation has no kernel.
    """

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
            print_typed_operands(printer, self.operands)


class KernelReturnOp(ReturnOp):
    """The `kernel.return %x` at the end of a `hex.run`, with or without types.

    It is parsed as a `tfrt.return`.
    """

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


class _NamedCallOp(CallingOp):
    """A call whose form is: leading operands, functions, arguments, and types."""

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
        """Parse the attributes that the short form writes without names."""
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

    By default, the call is strict: it waits for all its arguments. With the attribute
    `{bef.nonstrict}` before the `:`, it starts when one of its arguments is available.
    """

    name = "tfrt.call"
    callees = ("callee",)

    def _print_types(self, printer: Printer) -> None:
        printer.print_string(" : ")
        printer.print_operation_type(self)


class OnceOp(_NamedCallOp):
    """Runs a function once per resource context: `tfrt.once @f(%x) : (i32) -> (i32)`."""

    name = "tfrt.once"
    callees = ("function",)


class CondOp(_NamedCallOp):
    """Runs one of two functions: `tfrt.cond %c @then @else (%x) : (i32) -> (i32)`.

    The operation waits for the condition and all arguments. With `{bef.nonstrict}` before the `:`,
    it waits only for the condition.
    """

    name = "tfrt.cond"
    leading = ("i1",)
    # The prefixes `a_` and `b_` put the alphabetical order in the order of the functions.
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
    """Runs the function that an index selects.

    In the form `tfrt.case %i [@b0, @b1] (%ch, %x) : (i32) -> (i32)`, the first argument and the
    first result are chains, whose types are omitted. The form of later versions, `(!tfrt.chain,
    i32) -> (!tfrt.chain, i32)`, is also accepted.
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
        """Return whether the operation can omit the types of its chains.

        The first argument and the first result must be chains, and others must follow both.
        """
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
    """Runs a function on the parts of a range.

    The form is `tfrt.parallel_call.i32 %from to %to fixed %size @f(%x) : !T`. The resulting chain
    becomes available when all calls have finished.
    """

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
