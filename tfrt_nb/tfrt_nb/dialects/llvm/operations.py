"""Operations of MLIR's `llvm` dialect that xDSL lacks or prints in another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.llvm.types import TOKEN, TokenType


@irdl_op_definition
class NoneTokenOp(IRDLOperation):
    """A token that stands for nothing."""

    name = "llvm.mlir.none"
    res = result_def(TokenType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        Operation.__init__(self, result_types=[TOKEN])


class ExtractValueOp(llvm.ExtractValueOp):
    """`llvm.extractvalue %s[0] : !llvm.struct<(ptr, i64)> `, with the space that MLIR leaves there."""

    def print(self, printer: Printer) -> None:
        super().print(printer)
        printer.print_string(" ")


class InsertValueOp(llvm.InsertValueOp):
    """`llvm.insertvalue %v, %s[0] : !llvm.struct<(ptr, i64)> `, with the space that MLIR leaves there."""

    def print(self, printer: Printer) -> None:
        super().print(printer)
        printer.print_string(" ")


def _print_binary(op: Operation, printer: Printer) -> None:
    """With two spaces where newer releases have a word between."""
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    printer.print_string(" ")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(op.operands[0].type)


class _BinaryOp(llvm.ArithmeticBinOperation):
    """MLIR prints an empty word, where newer releases say `disjoint` for one of them."""

    def print(self, printer: Printer) -> None:
        _print_binary(self, printer)


@irdl_op_definition
class AndOp(_BinaryOp):
    """Both bits."""

    name = "llvm.and"


@irdl_op_definition
class OrOp(_BinaryOp):
    """Either bit."""

    name = "llvm.or"


@irdl_op_definition
class XOrOp(_BinaryOp):
    """One bit, but not both."""

    name = "llvm.xor"


class SRemOp(_BinaryOp, llvm.SRemOp):
    """A remainder with the sign of the dividend."""


class URemOp(_BinaryOp, llvm.URemOp):
    """A remainder of numbers without signs."""


class _ExactOp(llvm.ArithmeticBinOpExact):
    """The same where newer releases say `exact`."""

    def print(self, printer: Printer) -> None:
        _print_binary(self, printer)


class SDivOp(_ExactOp, llvm.SDivOp):
    """A quotient, rounded towards zero."""


class UDivOp(_ExactOp, llvm.UDivOp):
    """A quotient of numbers without signs."""


class LShrOp(_ExactOp, llvm.LShrOp):
    """Shifts zeros in."""


class AShrOp(_ExactOp, llvm.AShrOp):
    """Shifts the sign in."""


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """`llvm.switch %way : i32, ^otherwise [ 0: ^zero, 1: ^one(%x : i64) ]`."""

    name = "llvm.switch"
    value = operand_def(SignlessIntegerConstraint)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = opt_prop_def(DenseIntElementsAttr)
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    branch_weights = opt_prop_def(DenseArrayBase.constr(i32))
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def __init__(
        self,
        value: SSAValue,
        otherwise: tuple[Block, Sequence[SSAValue]],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]],
    ) -> None:
        properties: dict[str, Attribute] = {
            "case_operand_segments": DenseArrayBase.from_list(
                i32, [len(passed) for _, _, passed in cases]
            )
        }
        if cases:
            assert isinstance(value.type, IntegerType)
            properties["case_values"] = DenseIntElementsAttr.from_list(
                VectorType(value.type, [len(cases)]), [number for number, _, _ in cases]
            )
        block, passed = otherwise
        super().__init__(
            operands=[value, passed, [one for _, _, values in cases for one in values]],
            successors=[block, [target for _, target, _ in cases]],
            properties=properties,
        )

    @property
    def cases(self) -> list[tuple[int, Block, Sequence[SSAValue]]]:
        """Value, block, and what is passed to it."""
        operands = list(self.case_operands)
        sizes = self.case_operand_segments.get_values()
        passed = [[operands.pop(0) for _ in range(size)] for size in sizes]
        numbers = () if self.case_values is None else self.case_values.get_values()
        return list(zip(map(int, numbers), self.case_blocks, passed, strict=True))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, IntegerType):
            parser.raise_error(f"expected an integer type, but got '{type_}'", position)
        parser.parse_punctuation(",")
        otherwise = _parse_target(parser)
        cases: list[tuple[int, Block, Sequence[SSAValue]]] = []
        parser.parse_punctuation("[")
        while parser.parse_optional_punctuation("]") is None:
            if cases:
                parser.parse_punctuation(",")
            number = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(":")
            cases.append((number, *_parse_target(parser)))
        op = cls(parser.resolve_operand(unresolved, type_), otherwise, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        _print_target(printer, self.default_block, self.default_operands)
        printer.print_string(" [")
        assert isinstance(self.value.type, IntegerType)
        modulus = 2**self.value.type.width.data
        with printer.indented():
            for index, (number, block, passed) in enumerate(self.cases):
                printer.print_string(",\n" if index else "\n")
                printer.print_string(f"{number % modulus}: ")
                _print_target(printer, block, passed)
        printer.print_string("\n]")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        count = len(self.case_operand_segments.get_values())
        values = 0 if self.case_values is None else len(self.case_values)
        if not count == values == len(self.case_blocks):
            raise VerifyException(
                "expects number of case values to match number of case destinations"
            )


def _parse_target(parser: Parser) -> tuple[Block, Sequence[SSAValue]]:
    """`^block` or `^block(%a, %b : i32, i64)`."""
    block = parser.parse_successor()
    if parser.parse_optional_punctuation("(") is None:
        return block, ()
    position = parser.pos
    values: list[UnresolvedOperand] = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return block, parser.resolve_operands(values, types, position)


def _print_target(printer: Printer, block: Block, passed: Sequence[SSAValue]) -> None:
    printer.print_block_name(block)
    if passed:
        with printer.in_parens():
            printer.print_list(passed, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list(passed, lambda value: printer.print_attribute(value.type))


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`llvm.mlir.constant(0 : i64) : i64`: the type of the number is always said."""

    name = "llvm.mlir.constant"
    value = prop_def()
    res = result_def()

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Attribute, type_: Attribute) -> None:
        Operation.__init__(self, result_types=[type_], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_parens():
            value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(value, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_attribute(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.res.type)


OPERATIONS: list[type[Operation]] = [
    NoneTokenOp,
    ExtractValueOp,
    InsertValueOp,
    AndOp,
    OrOp,
    XOrOp,
    SDivOp,
    UDivOp,
    SRemOp,
    URemOp,
    LShrOp,
    AShrOp,
    SwitchOp,
    ConstantOp,
]
