"""`arith` and `cf` where xDSL knows less than MLIR: operations that it lacks, and other text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division rounded towards zero, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


class CmpiOp(arith.CmpiOp):
    """`arith.cmpi slt, %a, %b : i64`: a predicate that there is, in the generic form, too."""

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPI_COMPARISON_OPERATIONS)


class CmpfOp(arith.CmpfOp):
    """`arith.cmpf olt, %a, %b : f64`: a predicate that there is, in the generic form, too."""

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPF_COMPARISON_OPERATIONS)


def _require_predicate(predicate: IntegerAttr, names: Sequence[str]) -> None:
    if not 0 <= predicate.value.data < len(names):
        cases = ", ".join(map(str, range(len(names))))
        raise VerifyException(
            "attribute 'predicate' failed to satisfy constraint: allowed 64-bit signless integer cases:"
            f" {cases}"
        )


class SwitchOp(cf.SwitchOp):
    """Printed as MLIR does: values of cases without a sign."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        try:
            return super().parse(parser)
        except AssertionError:  # of xDSL, about the type of the flag
            parser.raise_error("'cf.switch' chooses by an integer")

    def verify_(self) -> None:
        super().verify_()
        values = () if self.case_values is None else self.case_values.get_values()
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise VerifyException(f"has duplicate case value: {twice}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.flag)
        printer.print_string(" : ")
        printer.print_attribute(self.flag.type)
        printer.print_string(", [")
        operands = list(self.case_operands)
        values = () if self.case_values is None else self.case_values.get_values()
        assert isinstance(self.flag.type, IntegerType)
        modulus = 2**self.flag.type.width.data
        sizes = self.case_operand_segments.get_values()
        with printer.indented():
            _print_case(printer, "default", self.default_block, self.default_operands)
            for value, block, size in zip(values, self.case_blocks, sizes, strict=True):
                printer.print_string(",")
                passed, operands = operands[:size], operands[size:]
                _print_case(printer, str(int(value) % modulus), block, passed)
        if values:
            printer.print_string("\n")
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)


def _print_case(printer: Printer, label: str, block: Block, operands: Sequence[SSAValue]) -> None:
    printer.print_string(f"\n{label}: ")
    printer.print_block_name(block)
    if operands:
        with printer.in_parens():
            printer.print_list(operands, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list(operands, lambda value: printer.print_attribute(value.type))
