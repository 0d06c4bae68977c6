"""The shared structure of control flow operations, and `tfrt.return`.

Control flow operations have leading fixed operands, and then the arguments that they pass on to
functions or regions. These end with `tfrt.return`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.assembly import (
    NamesItsRegionArguments,
    parse_operands,
    parse_types,
    print_attributes,
    print_typed_operands,
)
from tfrt_nb.dialects.types import WORDS, description
from tfrt_runtime.diagnostics import counted

Types: TypeAlias = tuple[Attribute, ...]


class ControlFlowOp(Operation):
    """An operation that passes operands on to functions or regions.

    `leading` has the type words of the leading operands, such as the condition. `result_words` has
    those of the results, None if they are free.
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
        """Return the values of the leading and the other operands.

        `position` is that of `types`.
        """
        return [
            *parser.resolve_operands(leading, [WORDS[word] for word in cls.leading], position),
            *parser.resolve_operands(operands, types, position),
        ]

    @property
    def arguments(self) -> tuple[SSAValue, ...]:
        """Return the operands that are passed on."""
        return tuple(self.operands[len(self.leading) :])

    @property
    def argument_types(self) -> Types:
        """Return the types of the operands that are passed on."""
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
        self._verify_results()

    def _verify_results(self) -> None:
        if self.result_words is None:
            return
        expected = tuple(WORDS[word] for word in self.result_words)
        if self.results.types != expected:
            raise VerifyException(
                f"must have results of the types ({', '.join(map(str, expected))})"
            )


class CallingOp(ControlFlowOp):
    """Calls functions; `callees` are the names of the attributes that hold them."""

    callees: ClassVar[tuple[str, ...]] = ()
    roles: ClassVar[tuple[str, ...]] = ()
    """The names that errors use for the callees, in order, if an operation has several."""

    def callee_symbols(self) -> Iterator[SymbolRefAttr]:
        """Yield the functions that may be called."""
        for name in self.callees:
            attribute = self.attributes[name]
            for symbol in attribute if isinstance(attribute, ArrayAttr) else (attribute,):
                assert isinstance(symbol, SymbolRefAttr), "verified"
                yield symbol

    def callee_types(self) -> tuple[Types, Types | None]:
        """Return the arguments and results that a callee must have.

        The result types are None if they are free.
        """
        return self.argument_types, tuple(self.result_types)

    def verify_(self) -> None:
        super().verify_()
        for name in self.callees:
            if name not in self.attributes:
                raise VerifyException(f"requires attribute '{name}'")
            if not _holds_symbols(self.attributes[name]):
                raise VerifyException(f"attribute '{name}' must name a function")


class BodyOp(ControlFlowOp):
    """Runs a region; its arguments are the operands that are passed on."""

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


def _holds_symbols(attribute: Attribute) -> bool:
    if isinstance(attribute, ArrayAttr):
        return all(isinstance(element, SymbolRefAttr) for element in attribute)
    return isinstance(attribute, SymbolRefAttr)


class ReturnOp(Operation):
    """`tfrt.return %x, %ch : i32, !tfrt.chain`: the results of a function or a region.

    It has no kernel.
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
    """`kernel.return %x`, with or without types, at the end of a `hex.run`.

    Read as `tfrt.return`.
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
