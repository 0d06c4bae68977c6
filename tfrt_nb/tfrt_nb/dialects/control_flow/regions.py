"""The kernels whose bodies are regions.

The kernels are `tfrt.if`, `repeat`, `parallel_for`, `tfrt_test.do.async`, the benchmarks, and
`tfrt.jit`, whose region becomes machine code. A body's arguments have the operands' names, and the
body cannot use any other names:

    %r = tfrt.if %c, %x : (i32) -> (i32)  {
      tfrt.return %x : i32
    } else  {
      ...
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, StringAttr, f32
from xdsl.ir import Attribute, Block, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import TOKEN
from tfrt_nb.dialects.control_flow.calls import BodyOp, CallingOp, ReturnOp, Types
from tfrt_nb.dialects.crossing import host_type, host_types
from tfrt_nb.dialects.kernel_op import attribute_problems
from tfrt_nb.dialects.literals import parse_literal
from tfrt_nb.dialects.types import (
    CHAIN,
    I32,
    TENSOR,
    parse_attributes_with_keyword,
    parse_function_type,
    parse_further_operands,
    parse_named_region,
    parse_operands,
    parse_optional_types,
    parse_range,
    parse_renamed,
    parse_result_types,
    parse_symbol,
    print_attributes,
    print_function_types,
    print_named_region,
    print_parts,
    print_range,
    print_renamed,
)
from tfrt_runtime.diagnostics import counted


class IfOp(BodyOp):
    """Runs one of two regions: `tfrt.if %c, %x : (i32) -> (i32)  { ... } else  { ... }`.

    If there are no results, the second region is optional. An omitted region does nothing.
    """

    name = "tfrt.if"
    leading = ("i1",)
    region_count = 2

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_unresolved_operand()
        operands = parse_further_operands(parser)
        attributes = parse_attributes_with_keyword(parser)
        types = parse_function_type(parser)
        values = cls.resolved(parser, [condition], operands, types.inputs, types.position)
        then = parse_named_region(parser, operands, types.inputs)
        if parser.parse_optional_keyword("else") is not None:
            otherwise = parse_named_region(parser, operands, types.inputs)
        elif types.outputs:
            parser.raise_error(
                f"custom op '{cls.name}' expected 'else' in 'tfrt.if' with result values"
            )
        else:
            otherwise = Region(Block([ReturnOp.create()], arg_types=types.inputs))
        return cls.create(
            operands=values,
            result_types=types.outputs,
            attributes=attributes,
            regions=[then, otherwise],
        )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.operands)
        print_attributes(printer, self.attributes, keyword=True)
        print_function_types(printer, self.argument_types, self.result_types)
        printer.print_string("  ")
        print_named_region(printer, self.regions[0], self.arguments)
        printer.print_string(" else  ")
        print_named_region(printer, self.regions[1], self.arguments)


class RepeatOp(BodyOp):
    """Repeats a region: `tfrt.repeat.i32 %n, %x : i32 { ... }`.

    The body takes and returns the loop values. An attribute such as `attributes {bef.nonstrict}`
    comes before the `:`.
    """

    name = "tfrt.repeat.i32"
    leading = ("i32",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        count = parser.parse_unresolved_operand()
        operands = parse_further_operands(parser)
        attributes = parse_attributes_with_keyword(parser)
        start = parser.pos
        types = parse_optional_types(parser)
        return cls.create(
            operands=cls.resolved(parser, [count], operands, types, start),
            result_types=types,
            attributes=attributes,
            regions=[parse_named_region(parser, operands, types)],
        )

    def verify_(self) -> None:
        super().verify_()
        if self.results.types != self.argument_types:
            raise VerifyException("the results do not have the types of the loop values")

    def print(self, printer: Printer) -> None:
        arguments = self.arguments
        print_parts(printer, " ", self.operands)
        print_attributes(printer, self.attributes, keyword=True)
        if arguments:
            print_parts(printer, " : ", self.result_types)
        printer.print_string(" ")
        print_named_region(printer, self.regions[0], arguments)


class ParallelForOp(BodyOp):
    """Runs a region once for each part of a range.

    The form is `tfrt.parallel_for.i32 %from to %to fixed %size, %x : !T { ... }`. Inside the
    region, %from and %to are the bounds of one part.
    """

    name = "tfrt.parallel_for.i32"
    leading = ("i32", "i32", "i32")
    result_words = ("chain",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        bounds = parse_range(parser)
        operands = parse_further_operands(parser)
        attributes = parse_attributes_with_keyword(parser)
        start = parser.pos
        types = parse_optional_types(parser)
        values = cls.resolved(parser, bounds, operands, types, start)
        body = parse_named_region(parser, [*bounds[:2], *operands], [I32, I32, *types])
        return cls.create(
            operands=values, result_types=[CHAIN], attributes=attributes, regions=[body]
        )

    @classmethod
    def body_positions(cls, operand_count: int) -> Sequence[int]:
        return (0, 1, *range(3, operand_count))  # operand 2 is the size of a part

    def accepts_return(self, types: Types) -> bool:
        return types in ((), (CHAIN,))

    def print(self, printer: Printer) -> None:
        arguments = self.arguments
        print_range(printer, self)
        if arguments:
            print_parts(printer, ", ", arguments)
        print_attributes(printer, self.attributes, keyword=True)
        if arguments:
            print_parts(printer, " : ", self.argument_types)
        printer.print_string(" ")
        print_named_region(printer, self.regions[0], self.body_arguments)


class DoAsyncOp(BodyOp):
    """Runs its region in a task: `tfrt_test.do.async %x : (i32) -> (i32)  { ... }`."""

    name = "tfrt_test.do.async"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        attributes = parse_attributes_with_keyword(parser)
        types = parse_function_type(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, types.inputs, types.position),
            result_types=types.outputs,
            attributes=attributes,
            regions=[parse_named_region(parser, operands, types.inputs)],
        )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.operands)
        print_attributes(printer, self.attributes, keyword=True)
        print_function_types(printer, self.operand_types, self.result_types)
        printer.print_string("  ")
        print_named_region(printer, self.regions[0], self.operands)


class BenchmarkOp(BodyOp):
    """Runs its region many times, and prints how long that took.

    The form is `tfrt_test.benchmark "name"(%x : i32) duration_secs = 1, max_count = 20,
    num_warmup_runs = 2  { ... }`.
    """

    name = "tfrt_test.benchmark"
    result_words = ("chain",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        title = StringAttr(parser.parse_str_literal())
        operands, types, settings = _parse_measured(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, types, parser.pos),
            result_types=[CHAIN],
            attributes=settings | {"name": title},
            regions=[parse_named_region(parser, operands, types)],
        )

    def accepts_return(self, types: Types) -> bool:
        return True

    def verify_(self) -> None:
        super().verify_()
        if not isinstance(self.attributes.get("name"), StringAttr):
            raise VerifyException("requires a string attribute 'name'")
        _verify_settings(self)
        block = self.regions[0].blocks.last
        if block is None or block.last_op is None or len(block.last_op.operands) != 1:
            raise VerifyException("incorrect number of return values. One return value is expected")

    def print(self, printer: Printer) -> None:
        _print_measured(printer, self, "name")
        printer.print_string("  ")
        print_named_region(printer, self.regions[0], self.operands)


class SyncBenchmarkOp(CallingOp):
    """Measures a sync function: `tfrt_test.sync_benchmark @f(%x : i32) duration_secs = 1, ...`."""

    name = "tfrt_test.sync_benchmark"
    callees = ("target_fn",)
    result_words = ("chain",)

    def callee_types(self) -> tuple[Types, Types | None]:
        return self.argument_types, None

    def verify_(self) -> None:
        super().verify_()
        _verify_settings(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parse_symbol(parser)
        operands, types, settings = _parse_measured(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, types, parser.pos),
            result_types=[CHAIN],
            attributes=settings | {"target_fn": callee},
        )

    def print(self, printer: Printer) -> None:
        _print_measured(printer, self, "target_fn")


_SETTINGS = ("duration_secs", "max_count", "num_warmup_runs")


def _parse_measured(
    parser: Parser,
) -> tuple[list[UnresolvedOperand], list[Attribute], dict[str, Attribute]]:
    """Parse `(%x : i32, %y : f32) duration_secs = 1, max_count = 20`.

    A setting is a 32-bit integer. By default, the benchmark has one warm-up run.

    Returns:
        the operands, their types, and the settings.
    """

    def parse_pair() -> tuple[UnresolvedOperand, Attribute]:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":", " and the type of the operand")
        return operand, parser.parse_type()

    def parse_setting() -> tuple[str, Attribute]:
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        return name, parse_literal(parser, I32)

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_pair)
    settings = parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_setting)
    operands, types = [operand for operand, _ in pairs], [type_ for _, type_ in pairs]
    return operands, types, {"num_warmup_runs": IntegerAttr(1, I32)} | dict(settings)


def _verify_settings(op: Operation) -> None:
    for name in _SETTINGS:
        for problem in attribute_problems(op, name, "i32"):
            raise VerifyException(problem)


def _print_measured(printer: Printer, op: Operation, title: str) -> None:
    """Print the attribute `title`, the operands, and the settings."""
    print_parts(printer, " ", op.attributes[title])
    with printer.in_parens():
        printer.print_list(op.operands, lambda one: print_parts(printer, one, " : ", one.type))
    settings = [
        f"{name} = {value.value.data}"
        for name, value in sorted(op.attributes.items())
        if name != title and isinstance(value, IntegerAttr)
    ]
    printer.print_string(" " + ", ".join(settings))


class JitOp(BodyOp):
    """Runs compiled code: `tfrt.jit (%x as %a: i32) -> i32 { ... }`.

    If the first result is an `!async.token` in the body, it is a chain outside, which becomes
    available when the body is done.
    """

    name = "tfrt.jit"
    # Not `NamesItsRegionArguments`, because `as` gives the arguments names of their own.
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
        ends = (block.last_op for block in self.regions[0].blocks)
        found = next((end for end in ends if isinstance(end, ReturnOp)), None)
        return () if found is None else tuple(found.operand_types)

    @property
    def has_token(self) -> bool:
        """Return whether one of the results is a chain that signals that the body is done."""
        return len(self.results) == len(self.body_types) + 1

    @property
    def is_token_last(self) -> bool:
        """Return whether the chain that signals the end comes after the values, as in `hex.run`."""
        crossed = host_types(self.body_types)
        return crossed is not None and list(self.result_types) not in (crossed, [CHAIN, *crossed])

    def accepts_return(self, types: Types) -> bool:
        crossed, expected = host_types(types), list(self.result_types)
        if crossed is None:
            return False
        return expected in (crossed, [CHAIN, *crossed], [*crossed, CHAIN])

    def verify_(self) -> None:
        # Not `BodyOp.verify_`, because a type may differ inside and outside the region.
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
                    f"operand #{index} is of type '{value.type}', but its argument in the region is"
                    f" of type '{type_}'"
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
    """The form `hex.jit_execute(%x, %t: memref<?xf32>) -> !hex.chain { ... }` of a `tfrt.jit`.

    The discussion of the proposal uses this form. Inside the region, the arguments have the names
    that they have outside. A tensor without a type is a `memref<?xf32>`. The results have types of
    host programs. The terminator is optional.
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
    """The form `hex.run { ... kernel.return %x } : i32, !hex.chain` of a `tfrt.jit`.

    The discussion of the proposal uses this form. Arguments may be written as in `hex.jit_execute`.
    """

    name = "tfrt.run"

    @classmethod
    def parse(cls, parser: Parser) -> JitOp:  # type: ignore[override]
        pairs = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_captured(parser)
        )
        body = parser.parse_region([argument for _, argument in pairs or ()])
        outputs = [_host_type(parser, type_) for type_ in parse_optional_types(parser)]
        return _jit([value for value, _ in pairs or ()], outputs, body)


def _jit(operands: Sequence[SSAValue], results: Sequence[Attribute], body: Region) -> JitOp:
    """Build the `tfrt.jit` that corresponds to another form."""
    if body.blocks and not isinstance(body.blocks[-1].last_op, ReturnOp):
        body.blocks[-1].add_op(ReturnOp.create())
    return JitOp.create(operands=operands, result_types=results, regions=[body])


def _parse_captured(parser: Parser) -> tuple[SSAValue, Parser.Argument]:
    """Parse `%x` or `%x: type`, where `type` is the argument's type inside the region."""
    unresolved = parser.parse_unresolved_operand()
    if parser.parse_optional_punctuation(":") is not None:
        inside: Attribute = parser.parse_type()
        value = parser.resolve_operand(unresolved, _crossing(parser, inside))
    else:
        known = parser.ssa_values.get(unresolved.operand_name, ())
        if unresolved.index >= len(known):
            parser.raise_error("this value is defined later: give its type here", unresolved.span)
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
