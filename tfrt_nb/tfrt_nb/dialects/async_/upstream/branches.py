"""Branches between blocks, checks of the operands that they pass, and functions as values.

xDSL lacks the operations for functions as values: `func.constant` and `func.call_indirect`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.post_order import PostOrderIterator
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import with_operations
from tfrt_nb.dialects.types import print_parts, print_typed_operands


class SwitchOp(cf.SwitchOp):
    """Prints case values without a sign, as MLIR does."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        try:
            return super().parse(parser)
        except AssertionError:  # xDSL raises this about the type of the flag
            parser.raise_error("'cf.switch' switches on an integer")

    def verify_(self) -> None:
        super().verify_()
        values = () if self.case_values is None else self.case_values.get_values()
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise VerifyException(f"has duplicate case value: {twice}")

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.flag, " : ", self.flag.type, ", [")
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
            print_typed_operands(printer, operands)


Cf = with_operations(cf.Cf, (SwitchOp,))


def branch_operands(terminator: Operation, edge: int) -> Sequence[SSAValue]:
    """Return the operands that a branch passes to its successor number `edge`."""
    match terminator:
        case cf.BranchOp():
            return terminator.arguments
        case cf.ConditionalBranchOp():
            return (terminator.then_arguments, terminator.else_arguments)[edge]
        case cf.SwitchOp() if edge == 0:
            return terminator.default_operands
        case cf.SwitchOp():
            sizes = terminator.case_operand_segments.get_values()
            start = sum(sizes[: edge - 1])
            return terminator.case_operands[start : start + sizes[edge - 1]]
        case _:
            return ()


def edge_problem(terminator: Operation) -> str | None:
    """Describe, in MLIR's words, what is wrong with the operands that a branch passes.

    Return None if the operands are valid.
    """
    for edge, target in enumerate(terminator.successors):
        if target.parent is not None and target.parent.first_block is target:
            return "entry block of region may not have predecessors"
        passed = branch_operands(terminator, edge)
        if len(passed) != len(target.args):
            return (
                f"branch has {len(passed)} operands for successor #{edge}, "
                f"but target block has {len(target.args)}"
            )
        for index, (value, argument) in enumerate(zip(passed, target.args, strict=True)):
            if value.type != argument.type:
                return f"type mismatch for bb argument #{index} of successor #{edge}"
    return None


def reachable_blocks(region: Region) -> list[Block]:
    """Return the blocks that are reachable from the entry, each after its dominators.

    The order is reverse postorder.
    """
    # The iterator yields a block twice if both edges of a branch lead to it.
    return [*dict.fromkeys(PostOrderIterator(region.blocks[0]))][::-1]


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Turns a function into a value: `func.constant @f : (i32) -> i32`."""

    name = "func.constant"
    value = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(FunctionType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict $value `:` type($result)"


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """Calls a function value: `func.call_indirect %f(%x) : (i32) -> i32`."""

    name = "func.call_indirect"
    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_unresolved_operand()
        unresolved = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        function = parser.resolve_operand(callee, type_)
        arguments = parser.resolve_operands(unresolved, type_.inputs.data, position)
        return cls.build(
            operands=[function, arguments],
            result_types=[type_.outputs.data],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.callee, "(", self.arguments, ")")
        printer.print_op_attributes(self.attributes)
        print_parts(printer, " : ", self.callee.type)

    def verify_(self) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        if list(type_.inputs) != [argument.type for argument in self.arguments]:
            raise VerifyException("operand types differ from those of the function's arguments")
        if list(type_.outputs) != list(self.res.types):
            raise VerifyException("result types differ from those of the function's results")


Func = with_operations(func.Func, (), (CallIndirectOp, ConstantOp))
