"""`arith`, `index` and `cf` where xDSL knows less than MLIR: operations that it lacks, and other text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, IntegerType, StringAttr, i1
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

INDEX = IndexType()
INTEGER_OR_INDEX = BaseAttr(IntegerType) | BaseAttr(IndexType)


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division rounded towards zero, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


class AddUIExtendedOp(arith.AddUIExtendedOp):
    """`arith.addui_extended %a, %b : index, i1`: indices can be added, too."""

    def verify_(self) -> None:
        self.get_irdl_definition().verify(self)
        if not isinstance(self.lhs.type, IndexType):
            super().verify_()  # type: ignore[no-untyped-call]


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
    """`cf.switch`, printed as MLIR does: values of cases without a sign."""

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


# `index`

_BINARY = (
    *("add", "and", "ceildivs", "ceildivu", "divs", "divu", "floordivs", "maxs", "maxu"),
    *("mins", "minu", "mul", "or", "rems", "remu", "shl", "shrs", "shru", "sub", "xor"),
)
DIVISIONS = ("ceildivs", "ceildivu", "divs", "divu", "floordivs", "rems", "remu")
"""What must not be given a zero."""


class _IndexBinaryOp(IRDLOperation):
    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict"


def _binary(name: str) -> type[Operation]:
    return irdl_op_definition(
        type(f"Index_{name}_Op", (_IndexBinaryOp,), {"name": f"index.{name}"})
    )


BINARY_OPERATIONS: dict[str, type[Operation]] = {name: _binary(name) for name in _BINARY}
"""`index.add %a, %b` and the like, by the name behind the dialect's."""


class _IndexCastOp(IRDLOperation):
    input = operand_def(INTEGER_OR_INDEX)
    output = result_def(INTEGER_OR_INDEX)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"

    def verify_(self) -> None:
        if not isinstance(self.input.type, IndexType) ^ isinstance(self.output.type, IndexType):
            raise VerifyException(
                f"operand type '{self.input.type}' and result type '{self.output.type}' "
                "are cast incompatible"
            )


@irdl_op_definition
class IndexCastSOp(_IndexCastOp):
    """Between an index and an integer, which is extended by its sign."""

    name = "index.casts"


@irdl_op_definition
class IndexCastUOp(_IndexCastOp):
    """Between an index and an integer, which is extended by zeros."""

    name = "index.castu"


@irdl_op_definition
class IndexCmpOp(IRDLOperation):
    """`index.cmp slt(%a, %b)`."""

    name = "index.cmp"
    pred = prop_def(StringAttr)
    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(i1)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        predicate = parser.parse_identifier()
        if predicate not in arith.CMPI_COMPARISON_OPERATIONS:
            known = ", ".join(arith.CMPI_COMPARISON_OPERATIONS)
            parser.raise_error(f"expected one of {known}", position)
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_operand(INDEX)
        )
        return cls.build(
            operands=operands,
            result_types=[i1],
            properties={"pred": StringAttr(predicate)},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pred.data}")
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class IndexConstantOp(IRDLOperation):
    """`index.constant 42`."""

    name = "index.constant"
    value = prop_def(IntegerAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        number = parser.parse_integer(allow_boolean=False)
        value: dict[str, Attribute] = {"value": IntegerAttr(number, INDEX)}
        return cls.build(result_types=[INDEX], properties=value, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" {self.value.value.data}")


@irdl_op_definition
class IndexBoolConstantOp(IRDLOperation):
    """`index.bool.constant true`."""

    name = "index.bool.constant"
    value = prop_def(IntegerAttr)
    result = result_def(i1)

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value: dict[str, Attribute] = {"value": BoolAttr.from_bool(parser.parse_boolean())}
        return cls.build(result_types=[i1], properties=value, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" true" if self.value.value.data else " false")


@irdl_op_definition
class IndexSizeOfOp(IRDLOperation):
    """How many bits an index has."""

    name = "index.sizeof"
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "attr-dict"


Index = Dialect(
    "index",
    [
        *BINARY_OPERATIONS.values(),
        IndexCastSOp,
        IndexCastUOp,
        IndexCmpOp,
        IndexConstantOp,
        IndexBoolConstantOp,
        IndexSizeOfOp,
    ],
)
