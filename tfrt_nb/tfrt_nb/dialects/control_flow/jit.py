"""`tfrt.jit`: operations within a host program that become machine code.

    %r = tfrt.jit (%x as %a: i32, %t as %m: memref<?xf32>) -> i32 {
      %two = arith.constant 2 : i32
      %d = arith.muli %a, %two : i32
      tfrt.return %d : i32
    }

The region is a function of its own, which sees no values from outside. The types of its arguments
and results are those of compiled code; the operation's operands and results have the corresponding
types of host programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, f32
from xdsl.ir import Attribute, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.assembly import (
    parse_attributes_with_keyword,
    parse_renamed,
    parse_result_types,
    parse_types,
    print_attributes,
    print_parts,
    print_renamed,
)
from tfrt_nb.dialects.async_.types import TOKEN
from tfrt_nb.dialects.control_flow.structure import BodyOp, ReturnOp, Types
from tfrt_nb.dialects.crossing import host_type, host_types
from tfrt_nb.dialects.types import CHAIN, TENSOR
from tfrt_runtime.diagnostics import counted


class JitOp(BodyOp):
    """`tfrt.jit (%x as %a: i32) -> i32 { ... }`.

    A leading `!async.token` among the results is a chain that is available when the body is done.
    """

    name = "tfrt.jit"
    traits = OpTraits(lambda: (IsolatedFromAbove(),))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values, arguments = parse_renamed(parser, lambda inside: _crossing(parser, inside))
        results = [_crossing(parser, type_) for type_ in parse_result_types(parser)]
        attributes = parse_attributes_with_keyword(parser)
        return cls.create(
            operands=values,
            result_types=results,
            attributes=attributes,
            regions=[parser.parse_region(arguments)],
        )

    @property
    def body_types(self) -> Types:
        """Return the types of the values that the body returns."""
        for block in self.regions[0].blocks:
            if isinstance(block.last_op, ReturnOp):
                return tuple(block.last_op.operand_types)
        return ()

    @property
    def has_token(self) -> bool:
        """Return whether one of the results is a chain that signals that the body is done."""
        return len(self.results) == len(self.body_types) + 1

    @property
    def is_token_last(self) -> bool:
        """Return whether that chain comes after the values, as in `hex.run`."""
        crossed = host_types(self.body_types)
        return crossed is not None and list(self.result_types) not in (crossed, [CHAIN, *crossed])

    def accepts_return(self, types: Types) -> bool:
        crossed, expected = host_types(types), list(self.result_types)
        if crossed is None:
            return False
        return expected in (crossed, [CHAIN, *crossed], [*crossed, CHAIN])

    def verify_(self) -> None:
        if len(self.regions) != 1 or not self.regions[0].blocks:
            raise VerifyException("requires a region that is not empty")
        types = self.regions[0].blocks[0].arg_types
        if len(types) != len(self.operands):
            raise VerifyException(
                f"the region has {counted(len(types), 'argument')} for"
                f" {counted(len(self.operands), 'operand')}"
            )
        for index, (type_, value) in enumerate(zip(types, self.operands, strict=True)):
            if host_type(type_) != value.type:
                raise VerifyException(
                    f"operand #{index} is of type '{value.type}', and cannot be '{type_}' inside"
                )

    def print(self, printer: Printer) -> None:
        arguments = self.regions[0].blocks[0].args
        print_renamed(printer, self.operands, arguments, [one.type for one in arguments])
        if self.results:
            types = list(self.body_types)
            if self.has_token:
                types.insert(len(types) if self.is_token_last else 0, TOKEN)
            print_parts(printer, " -> (", types, ")")
        print_attributes(printer, self.attributes, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)


class JitExecuteOp(JitOp):
    """`hex.jit_execute(%x, %t: memref<?xf32>) -> !hex.chain { ... }`, read as `tfrt.jit`.

    The form is that of the proposal's discussion.

    Inside, the arguments have the names that they have outside. A tensor without a type is a
    `memref<?xf32>`. The results have types of host programs; the terminator is optional.
    """

    name = "tfrt.jit_execute"

    @classmethod
    def parse(cls, parser: Parser) -> JitOp:  # type: ignore[override]
        pairs = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_captured(parser)
        )
        outputs = [_host_type(parser, type_) for type_ in parse_result_types(parser)]
        body = parser.parse_region([argument for _, argument in pairs])
        return _jit([value for value, _ in pairs], outputs, body)


class RunOp(JitOp):
    """`hex.run { ... kernel.return %x } : i32, !hex.chain`, read as `tfrt.jit`.

    The form is that of the proposal's discussion. Arguments may be given as to `hex.jit_execute`.
    """

    name = "tfrt.run"

    @classmethod
    def parse(cls, parser: Parser) -> JitOp:  # type: ignore[override]
        pairs = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_captured(parser)
        )
        body = parser.parse_region([argument for _, argument in pairs or ()])
        outputs: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            outputs = [_host_type(parser, type_) for type_ in parse_types(parser)]
        return _jit([value for value, _ in pairs or ()], outputs, body)


def _jit(operands: Sequence[SSAValue], results: Sequence[Attribute], body: Region) -> JitOp:
    """Build the `tfrt.jit` that another spelling denotes."""
    if body.blocks and not isinstance(body.blocks[-1].last_op, ReturnOp):
        body.blocks[-1].add_op(ReturnOp.create())
    return JitOp.create(operands=operands, result_types=results, regions=[body])


def _parse_captured(parser: Parser) -> tuple[SSAValue, Parser.Argument]:
    """Parse `%x` or `%x: type`, where the type is the one inside."""
    unresolved = parser.parse_unresolved_operand()
    if parser.parse_optional_punctuation(":") is not None:
        inside: Attribute = parser.parse_type()
        value = parser.resolve_operand(unresolved, _crossing(parser, inside))
    else:
        known = parser.ssa_values.get(unresolved.operand_name, ())
        if unresolved.index >= len(known):
            parser.raise_error("give the type of a value that is defined later", unresolved.span)
        value = known[unresolved.index]
        known_inside: dict[Attribute, Attribute] = {
            CHAIN: TOKEN,
            TENSOR: MemRefType(f32, [DYNAMIC_INDEX]),
        }
        inside = known_inside.get(value.type) or value.type
    return value, parser.Argument(unresolved.span, inside)


def _host_type(parser: Parser, type_: Attribute) -> Attribute:
    return type_ if type_ in (CHAIN, TENSOR) else _crossing(parser, type_)


def _crossing(parser: Parser, type_: Attribute) -> Attribute:
    found = host_type(type_)
    if found is None:
        parser.raise_error(f"values of type '{type_}' cannot cross between host and compiled code")
    return found
