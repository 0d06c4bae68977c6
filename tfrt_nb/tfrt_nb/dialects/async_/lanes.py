"""`arith` on vectors where xDSL's operations take numbers only: conversions, comparisons and choices."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    container_of,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_INTEGER = container_of(IntegerType)
_INTEGER_OR_INDEX = arith.signlessIntegerLike
_FLOAT = arith.floatingPointLike


class _ConversionOp(IRDLOperation):
    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if _shape(source) != _shape(target) or not self._fits(_element(source), _element(target)):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        """Whether there is such a conversion between numbers."""
        return True


class _WideningOp(_ConversionOp):
    input = operand_def(_INTEGER)
    result = result_def(_INTEGER)

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        return _bits(source) < _bits(target)


class _FloatCastOp(_ConversionOp):
    input = operand_def(_FLOAT)
    result = result_def(_FLOAT)


class _IndexCastOp(_ConversionOp):
    input = operand_def(_INTEGER_OR_INDEX)
    result = result_def(_INTEGER_OR_INDEX)

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        return isinstance(source, IndexType) != isinstance(target, IndexType)


class _ToFloatOp(_ConversionOp):
    input = operand_def(_INTEGER)
    result = result_def(_FLOAT)


class _ToIntegerOp(_ConversionOp):
    input = operand_def(_FLOAT)
    result = result_def(_INTEGER)


def _shape(type_: Attribute) -> tuple[int, ...] | None:
    return type_.get_shape() if isinstance(type_, VectorType) else None


def _element(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, VectorType) else type_


def _bits(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType | AnyFloat)
    return type_.bitwidth


@irdl_op_definition
class ExtSIOp(_WideningOp):
    """More bits, by the sign."""

    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(_WideningOp):
    """More bits, by zeros."""

    name = "arith.extui"


@irdl_op_definition
class TruncIOp(_ConversionOp):
    """The lower bits."""

    name = "arith.trunci"
    input = operand_def(_INTEGER)
    result = result_def(_INTEGER)

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        return _bits(source) > _bits(target)


@irdl_op_definition
class ExtFOp(_FloatCastOp):
    """A float of more bits."""

    name = "arith.extf"

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        return _bits(source) < _bits(target)


@irdl_op_definition
class TruncFOp(_FloatCastOp):
    """A float of fewer bits, rounded."""

    name = "arith.truncf"

    def _fits(self, source: Attribute, target: Attribute) -> bool:
        return _bits(source) > _bits(target)


@irdl_op_definition
class SIToFPOp(_ToFloatOp):
    """A signed integer as a float."""

    name = "arith.sitofp"


@irdl_op_definition
class UIToFPOp(_ToFloatOp):
    """An unsigned integer as a float."""

    name = "arith.uitofp"


@irdl_op_definition
class FPToSIOp(_ToIntegerOp):
    """A float as a signed integer, rounded towards zero."""

    name = "arith.fptosi"


@irdl_op_definition
class FPToUIOp(_ToIntegerOp):
    """A float as an unsigned integer, rounded towards zero."""

    name = "arith.fptoui"


@irdl_op_definition
class IndexCastOp(_IndexCastOp):
    """Between an index and an integer, which is extended by its sign."""

    name = "arith.index_cast"


@irdl_op_definition
class IndexCastUIOp(_IndexCastOp):
    """Between an index and an integer, which is extended by zeros."""

    name = "arith.index_castui"


class BitcastOp(arith.BitcastOp):
    """The same bits as another type of as many."""

    def verify_(self) -> None:
        if any(isinstance(_element(one.type), IndexType) for one in (self.input, self.result)):
            raise VerifyException("the width of an index is open")  # xDSL allows it, MLIR does not
        super().verify_()


class SelectOp(arith.SelectOp):
    """`arith.select %c, %a, %b : T`, or lane by lane `: vector<4xi1>, vector<4xf32>`."""

    @classmethod
    def parse(cls, parser: Parser) -> arith.SelectOp | LanewiseSelectOp:  # type: ignore[override]
        unresolved = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            unresolved.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_: Attribute = parser.parse_type()
        condition: Attribute = i1
        is_lanewise = parser.parse_optional_punctuation(",") is not None
        if is_lanewise:
            type_, condition = parser.parse_type(), type_
        types = [condition, type_, type_]
        values = [parser.resolve_operand(*one) for one in zip(unresolved, types, strict=True)]
        kind = LanewiseSelectOp if is_lanewise else arith.SelectOp
        return kind.build(operands=values, result_types=[type_], attributes=attributes)


@irdl_op_definition
class LanewiseSelectOp(IRDLOperation):
    """A choice in each lane."""

    name = "arith.select"

    _T: ClassVar = VarConstraint("_T", AnyAttr())
    condition = operand_def(arith.boolLike)
    lhs = operand_def(_T)
    rhs = operand_def(_T)
    result = result_def(_T)

    traits = traits_def(Pure())

    assembly_format = (
        "$condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($result)"
    )

    def verify_(self) -> None:
        if _shape(self.condition.type) != _shape(self.result.type):
            raise VerifyException(
                f"expected condition type to have the same shape as the result type, expected "
                f"'{self._expected()}', but got '{self.condition.type}'"
            )

    def _expected(self) -> Attribute:
        shape = _shape(self.result.type)
        return i1 if shape is None else VectorType(i1, shape)


class _LanewiseComparisonOp(IRDLOperation):
    predicate = prop_def(IntegerAttr)

    traits = traits_def(Pure())

    @classmethod
    def replacing(cls, op: arith.CmpiOp | arith.CmpfOp) -> Self:
        """The operation that compares lanes as `op` is written, which has one result for all."""
        assert isinstance(op.lhs.type, VectorType)
        new = cls.build(
            operands=op.operands,
            result_types=[VectorType(i1, op.lhs.type.get_shape())],
            properties=op.properties,
        )
        op.erase()
        return new

    def verify_(self) -> None:
        operands, result = {operand.type for operand in self.operands}, self.results[0].type
        if len(operands) > 1:
            raise VerifyException("requires all operands to have the same type")
        if _shape(self.operands[0].type) != _shape(result):
            raise VerifyException("requires the same shape for all operands and results")


@irdl_op_definition
class LanewiseCmpiOp(_LanewiseComparisonOp):
    """A comparison of integers in each lane."""

    name = "arith.cmpi"
    lhs = operand_def(_INTEGER_OR_INDEX)
    rhs = operand_def(_INTEGER_OR_INDEX)
    result = result_def(arith.boolLike)

    print = arith.CmpiOp.print


@irdl_op_definition
class LanewiseCmpfOp(_LanewiseComparisonOp):
    """A comparison of floats in each lane."""

    name = "arith.cmpf"
    lhs = operand_def(_FLOAT)
    rhs = operand_def(_FLOAT)
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)
    result = result_def(arith.boolLike)

    print = arith.CmpfOp.print


class CmpiOp(arith.CmpiOp):
    """`arith.cmpi slt, %a, %b : T`, or lane by lane."""

    @classmethod
    def parse(cls, parser: Parser) -> arith.CmpiOp | LanewiseCmpiOp:  # type: ignore[override]
        op = arith.CmpiOp.parse(parser)
        return LanewiseCmpiOp.replacing(op) if isinstance(op.lhs.type, VectorType) else op


class CmpfOp(arith.CmpfOp):
    """`arith.cmpf olt, %a, %b : T`, or lane by lane."""

    @classmethod
    def parse(cls, parser: Parser) -> arith.CmpfOp | LanewiseCmpfOp:  # type: ignore[override]
        op = arith.CmpfOp.parse(parser)
        return LanewiseCmpfOp.replacing(op) if isinstance(op.lhs.type, VectorType) else op


OPERATIONS: tuple[type[Operation], ...] = (
    *(BitcastOp, CmpfOp, CmpiOp, ExtFOp, ExtSIOp, ExtUIOp, FPToSIOp, FPToUIOp, IndexCastOp),
    *(SelectOp, SIToFPOp, TruncFOp, TruncIOp, UIToFPOp),
)
"""What replaces operations of xDSL."""
