"""`scf.forall`, which xDSL lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.loops import print_values


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """Ends the body of `scf.forall`; it would combine results, of which there are none here."""

    name = "scf.forall.in_parallel"
    body = region_def()

    traits = lazy_traits_def(lambda: (IsTerminator(), NoTerminator(), HasParent(ForallOp)))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.build(regions=[region], attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ForallOp(IRDLOperation):
    """`scf.forall (%i, %j) in (%n, 3) { ... }`, or `(%i) = (0) to (%n) step (2)`; without results."""

    name = "scf.forall"
    lower = var_operand_def(IndexType)
    upper = var_operand_def(IndexType)
    step = var_operand_def(IndexType)
    static_lower = prop_def(DenseArrayBase.constr(i64), prop_name="staticLowerBound")
    static_upper = prop_def(DenseArrayBase.constr(i64), prop_name="staticUpperBound")
    static_step = prop_def(DenseArrayBase.constr(i64), prop_name="staticStep")
    mapping = opt_prop_def(ArrayAttr)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        for values, static in (
            (self.lower, self.static_lower),
            (self.upper, self.static_upper),
            (self.step, self.static_step),
        ):
            numbers = static.get_values()
            if numbers.count(DYNAMIC_INDEX) != len(values):
                raise VerifyException(
                    f"{len(values)} values given for {numbers.count(DYNAMIC_INDEX)} bounds"
                )
            if len(numbers) != len(self.body.block.args):
                raise VerifyException(
                    f"{len(numbers)} bounds given for {len(self.body.block.args)} indices"
                )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        if parser.parse_optional_keyword("in") is not None:
            bounds = [([], [0] * len(indices)), _parse_bounds(parser), ([], [1] * len(indices))]
        else:
            parser.parse_punctuation("=")
            bounds = [_parse_bounds(parser)]
            for word in ("to", "step"):
                parser.parse_keyword(word)
                bounds.append(_parse_bounds(parser))
        if parser.parse_optional_keyword("shared_outs") is not None:
            parser.raise_error(
                "'scf.forall' with results works on tensors, which are not supported"
            )
        body = parser.parse_region([index.resolve(IndexType()) for index in indices])
        if not isinstance(body.block.last_op, InParallelOp):
            body.block.add_op(InParallelOp.build(regions=[Region(Block())]))
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, static)
            for name, (_, static) in zip(_STATIC_BOUNDS, bounds, strict=True)
        }
        if "mapping" in attributes:
            properties["mapping"] = attributes.pop("mapping")
        return cls.build(
            operands=[dynamic for dynamic, _ in bounds],
            properties=properties,
            attributes=attributes,
            regions=[body],
        )

    def bounds(self) -> list[list[SSAValue | int]]:
        """Lower bounds, upper bounds and steps: values, or numbers where they are known."""
        return [
            _mixed(self.lower, self.static_lower),
            _mixed(self.upper, self.static_upper),
            _mixed(self.step, self.static_step),
        ]

    def print(self, printer: Printer) -> None:
        lower, upper, step = self.bounds()
        printer.print_string(" ")
        print_values(printer, self.body.block.args)
        if all(one == 0 for one in lower) and all(one == 1 for one in step):
            printer.print_string(" in ")
            _print_mixed(printer, upper)
        else:
            for word, values in (("=", lower), ("to", upper), ("step", step)):
                printer.print_string(f" {word} ")
                _print_mixed(printer, values)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=False)
        mapping: dict[str, Attribute] = {} if self.mapping is None else {"mapping": self.mapping}
        printer.print_op_attributes(mapping | self.attributes)


_STATIC_BOUNDS = ("staticLowerBound", "staticUpperBound", "staticStep")


def _parse_bounds(parser: Parser) -> tuple[list[SSAValue], list[int]]:
    """`(%n, 3)`: the values, and all numbers with a sign in the place of each value."""
    values: list[SSAValue] = []

    def parse_bound() -> int:
        unresolved = parser.parse_optional_unresolved_operand()
        if unresolved is None:
            start = parser.pos
            number = parser.parse_integer(allow_boolean=False)
            if not -(2**63) < number < 2**63:
                parser.raise_error("the bound does not fit into 64 bits", start)
            return number
        values.append(parser.resolve_operand(unresolved, IndexType()))
        return DYNAMIC_INDEX

    numbers = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_bound)
    return values, numbers


def _mixed(values: Sequence[SSAValue], static: DenseArrayBase[IntegerType]) -> list[SSAValue | int]:
    given = iter(values)
    return [next(given) if n == DYNAMIC_INDEX else int(n) for n in static.get_values()]


def _print_mixed(printer: Printer, values: Sequence[SSAValue | int]) -> None:
    with printer.in_parens():
        printer.print_list(
            values,
            lambda one: (
                printer.print_string(str(one))
                if isinstance(one, int)
                else printer.print_ssa_value(one)
            ),
        )


OPERATIONS: tuple[type[Operation], ...] = (ForallOp, InParallelOp)
