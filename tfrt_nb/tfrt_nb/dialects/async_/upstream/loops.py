"""The `scf` dialect with all of MLIR's syntax, of which xDSL parses only a part.

The classes are xDSL's operations with other custom forms: result types without parentheses,
`scf.while` without operands, `scf.reduce` with several regions, and `scf.parallel`.

Two forms from other MLIR releases are parsed as the equivalent operations. In MLIR 17 and earlier,
the body of `scf.parallel` has one `scf.reduce(%a) : T { ... }` per result and an `scf.yield`. MLIR
22 has `scf.for unsigned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import verify_edge, with_operations
from tfrt_nb.dialects.types import (
    parse_bare_result_types,
    parse_result_types,
    print_parts,
    print_result_types,
    print_typed_operands,
)

Assignment = tuple[Parser.UnresolvedArgument, UnresolvedOperand]


class ForOp(scf.ForOp):
    """`scf.for %i = %lo to %hi step %st iter_args(%a = %b) -> T : index { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        is_unsigned = parser.parse_optional_keyword("unsigned") is not None
        index = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            bounds.append(parser.parse_unresolved_operand())
        position = parser.pos
        carried: list[Assignment] = []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("iter_args") is not None:
            carried = _parse_assignments(parser)
            parser.parse_punctuation("->")
            types = parse_bare_result_types(parser)
        initial = parser.resolve_operands([value for _, value in carried], types, position)
        type_ = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
        lower, upper, step = (parser.resolve_operand(bound, type_) for bound in bounds)
        # Between small constants, an unsigned loop does the same as a signed one.
        if is_unsigned and not all(map(_is_small, (lower, upper, step))):
            parser.raise_error(
                "'scf.for unsigned' (MLIR 22) is supported only if its bounds are nonnegative "
                "constants: leave out 'unsigned', which matters only for negative bounds",
                start,
            )
        arguments = [name.resolve(t) for (name, _), t in zip(carried, types, strict=True)]
        body = parser.parse_region([index.resolve(type_), *arguments])
        op = cls(lower, upper, step, initial, body)
        op.attributes |= parser.parse_optional_attr_dict()
        if not carried:
            _end_with_yield(body)
        return op

    def print(self, printer: Printer) -> None:
        index, *carried = self.body.block.args
        print_parts(printer, " ", index, " = ", self.lb, " to ", self.ub, " step ", self.step)
        if carried:
            printer.print_string(" iter_args")
            _print_assignments(printer, carried, self.iter_args)
            print_parts(printer, " -> (", [value.type for value in carried], ")")
        printer.print_string(" ")
        if not isinstance(index.type, IndexType):
            print_parts(printer, " : ", index.type, " ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(carried),
        )
        printer.print_op_attributes(self.attributes)


class IfOp(scf.IfOp):
    """`scf.if %c -> T { ... } else { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_operand(i1)
        types = parse_result_types(parser)
        then, otherwise = parser.parse_region(), Region()
        _end_with_yield(then)
        if parser.parse_optional_keyword("else") is not None:
            otherwise = parser.parse_region()
            _end_with_yield(otherwise)
        return cls(condition, types, then, otherwise, parser.parse_optional_attr_dict())

    def verify_(self) -> None:
        super().verify_()
        if self.results and not self.false_region.blocks:
            raise VerifyException("must have an else block if defining values")
        _verify_yields(self)


def _verify_yields(op: Operation) -> None:
    """Check that the regions yield values of the operation's result types."""
    for number, region in enumerate(op.regions):
        for block in region.blocks:
            if isinstance(block.last_op, scf.YieldOp):
                given = block.last_op.operand_types
                verify_edge(f"Region #{number}", "parent results", given, op.result_types)


class IndexSwitchOp(scf.IndexSwitchOp):
    """Selects a region by an index: `scf.index_switch %i case 2 { ... } default { ... }`.

    If the operation has no results, the yields in its regions are optional.
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = super().parse(parser)
        for region in op.regions:
            _end_with_yield(region)
        return op

    def verify_(self) -> None:
        super().verify_()
        _verify_yields(self)

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.arg)
        printer.print_op_attributes(self.attributes)
        if self.results:
            print_parts(printer, " -> ", self.result_types)
        printer.print_string(" ")  # as MLIR does
        for value, region in zip(self.cases.iter_values(), self.case_regions, strict=True):
            printer.print_string(f"\ncase {value} ")
            printer.print_region(region)
        printer.print_string("\ndefault ")
        printer.print_region(self.default_region)


class WhileOp(scf.WhileOp):
    """A loop with a condition region: `scf.while (%a = %b) : (T) -> U { ... } do { ... }`.

    Without operands, the parentheses are omitted.
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        is_empty = parser.parse_optional_punctuation(":") is not None
        carried = [] if is_empty else _parse_assignments(parser)
        if not is_empty:
            parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        inputs = type_.inputs.data
        values = parser.resolve_operands([value for _, value in carried], inputs, position)
        arguments = [name.resolve(t) for (name, _), t in zip(carried, inputs, strict=True)]
        before = parser.parse_region(arguments)
        parser.parse_keyword("do")
        op = cls(values, type_.outputs.data, before, parser.parse_region())
        attributes = parser.parse_optional_attr_dict_with_keyword()
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def verify_(self) -> None:
        super().verify_()  # type: ignore[no-untyped-call]
        before, after = self.before_region.block, self.after_region.block
        condition, yielded = before.last_op, after.last_op
        if not isinstance(condition, scf.ConditionOp):
            raise VerifyException("expects the 'before' region to terminate with 'scf.condition'")
        if not isinstance(yielded, scf.YieldOp):
            raise VerifyException("expects the 'after' region to terminate with 'scf.yield'")
        verify_edge("parent operands", "Region #0", self.operand_types, before.arg_types)
        passed = condition.operand_types[1:]
        verify_edge("Region #0", "Region #1", passed, after.arg_types)
        verify_edge("Region #0", "parent results", passed, self.result_types)
        verify_edge("Region #1", "Region #0", yielded.operand_types, before.arg_types)

    def print(self, printer: Printer) -> None:
        if self.arguments:
            printer.print_string(" ")
            _print_assignments(printer, self.before_region.block.args, self.arguments)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(self.before_region, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.after_region)
        printer.print_op_attributes(self.attributes, print_keyword=True)


class ExecuteRegionOp(scf.ExecuteRegionOp):
    """`scf.execute_region -> T { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        types = parse_result_types(parser)
        region = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        return cls.build(result_types=[types], regions=[region], attributes=attributes)

    def verify_(self) -> None:
        super().verify_()
        _verify_yields(self)

    def print(self, printer: Printer) -> None:
        print_result_types(printer, self.result_types)
        printer.print_string(" ")
        printer.print_region(self.region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


class ReduceOp(scf.ReduceOp):
    """`scf.reduce(%a, %b : T, U) { ... }, { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position, is_old = parser.pos, False
        unresolved: Sequence[UnresolvedOperand] = ()
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("("):
            unresolved = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parser.parse_unresolved_operand
            )
            # Up to MLIR 17, the types come after the parenthesis.
            is_old = parser.parse_optional_punctuation(")") is not None
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            if not is_old:
                parser.parse_punctuation(")")
        values = parser.resolve_operands(unresolved, types, position)
        regions: list[Region] = []
        while (region := parser.parse_optional_region()) is not None:
            regions.append(region)
            parser.parse_optional_punctuation(",")
        kind = cast(type[Self], _OldReduceOp) if is_old else cls
        op = kind.build(operands=[values], regions=[regions])
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        if self.args:
            with printer.in_parens():
                print_typed_operands(printer, self.args)
        printer.print_string(" ")
        if self.reductions:
            printer.print_list(self.reductions, printer.print_region)
        printer.print_op_attributes(self.attributes)


class _OldReduceOp(ReduceOp):
    """The `scf.reduce(%a) : T { ... }` of MLIR 17 and earlier.

    A body has one for each result, before its end.
    """


class ParallelOp(scf.ParallelOp):
    """`scf.parallel (%i) = (%lo) to (%hi) step (%st) init (%a) -> T { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _parse_indices(parser)
        parser.parse_keyword("to")
        upper = _parse_indices(parser)
        parser.parse_keyword("step")
        steps = _parse_indices(parser)
        initial = _parse_initial_values(parser)
        body = parser.parse_region([index.resolve(IndexType()) for index in indices])
        _end_with_reduce(body.block)
        op = cls(lower, upper, steps, body, initial)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def verify_(self) -> None:
        super().verify_()
        if not self.lowerBound:
            raise VerifyException(
                "needs at least one tuple element for lowerBound, upperBound and step"
            )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " (", self.body.block.args, ") = (", self.lowerBound, ")")
        print_parts(printer, " to (", self.upperBound, ") step (", self.step, ")")
        if self.initVals:
            print_parts(printer, " init (", self.initVals, ")")
            print_result_types(printer, self.result_types)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


def _parse_assignments(parser: Parser) -> list[Assignment]:
    """Parse `(%a = %b, ...)`."""

    def assignment() -> Assignment:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return name, parser.parse_unresolved_operand()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, assignment)


def _print_assignments(
    printer: Printer, names: Sequence[SSAValue], values: Sequence[SSAValue]
) -> None:
    """Print `(%a = %b, ...)`."""
    with printer.in_parens():
        pairs = zip(names, values, strict=True)
        printer.print_list(pairs, lambda pair: print_parts(printer, pair[0], " = ", pair[1]))


def _end_with_yield(region: Region) -> None:
    """Add a yield to the region if the program omits it."""
    if not region.blocks:
        region.add_block(Block())
    block = region.blocks[-1]
    if not isinstance(block.last_op, scf.YieldOp):
        block.add_op(scf.YieldOp())


def _end_with_reduce(block: Block) -> None:
    """Give the body its terminator.

    The program may omit it. The separate `scf.reduce` operations of older loops are merged into
    one.
    """
    last = block.last_op
    if isinstance(last, scf.YieldOp) and not last.operands:
        block.erase_op(last)
    if old := [op for op in block.ops if isinstance(op, _OldReduceOp)]:
        regions = [op.detach_region(region) for op in old for region in tuple(op.regions)]
        operands = [operand for op in old for operand in op.operands]
        end = ReduceOp.build(operands=[operands], regions=[regions])
        end.location = old[-1].location
        for op in old:
            block.erase_op(op)
        block.add_op(end)
    elif not isinstance(block.last_op, scf.ReduceOp):
        block.add_op(ReduceOp())


def _is_small(bound: SSAValue) -> bool:
    """Return whether a value is a constant that is the same number whether signed or unsigned."""
    value = getattr(bound.owner, "properties", {}).get("value")  # an argument has no constant value
    bits = bound.type.width.data if isinstance(bound.type, IntegerType) else 64
    return isinstance(value, IntegerAttr) and 0 <= value.value.data < 1 << (bits - 1)


def _parse_indices(parser: Parser) -> list[SSAValue]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: parser.resolve_operand(parser.parse_unresolved_operand(), IndexType()),
    )


def _parse_initial_values(parser: Parser) -> Sequence[SSAValue]:
    """Parse `init (%a) -> T`. Without initial values, parse nothing or `-> ()`."""
    position = parser.pos
    if parser.parse_optional_keyword("init") is None:
        return parser.resolve_operands([], parse_result_types(parser), position)
    values = parser.parse_op_args_list()
    parser.parse_punctuation("->")
    return parser.resolve_operands(values, parse_bare_result_types(parser), position)


Scf = with_operations(
    scf.Scf, (ExecuteRegionOp, ForOp, IfOp, IndexSwitchOp, ParallelOp, ReduceOp, WhileOp)
)
