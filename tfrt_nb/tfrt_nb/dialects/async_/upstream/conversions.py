"""Conversions of `arith`, whose refusals name both types."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    AnyFloatConstr,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_INTEGER = BaseAttr(IntegerType)
_INTEGER_OR_INDEX = BaseAttr(IntegerType) | BaseAttr(IndexType)
_FLOAT = AnyFloatConstr


class _ConversionOp(IRDLOperation):
    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not self._fits(source, target):
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
        if any(isinstance(one.type, IndexType) for one in (self.input, self.result)):
            raise VerifyException("the width of an index is open")  # xDSL allows it, MLIR does not
        super().verify_()


OPERATIONS: tuple[type[Operation], ...] = (
    *(BitcastOp, ExtFOp, ExtSIOp, ExtUIOp, FPToSIOp, FPToUIOp, IndexCastOp),
    *(SIToFPOp, TruncFOp, TruncIOp, UIToFPOp),
)
"""What replaces operations of xDSL."""
