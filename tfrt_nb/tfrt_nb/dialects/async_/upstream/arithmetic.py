"""`arith` as MLIR defines it, where xDSL's differs.

The module adds the operations that xDSL lacks, checks predicates, and checks conversions, whose
errors name both types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, AnyFloatConstr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.forms import with_operations


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division rounded towards zero, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


class CmpiOp(arith.CmpiOp):
    """`arith.cmpi slt, %a, %b : i64`: the predicate must be known even in the generic form."""

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPI_COMPARISON_OPERATIONS)


class CmpfOp(arith.CmpfOp):
    """`arith.cmpf olt, %a, %b : f64`: the predicate must be known even in the generic form."""

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPF_COMPARISON_OPERATIONS)


def _require_predicate(predicate: IntegerAttr, names: Sequence[str]) -> None:
    if not 0 <= predicate.value.data < len(names):
        cases = ", ".join(map(str, range(len(names))))
        raise VerifyException(
            "attribute 'predicate' failed to satisfy constraint: allowed 64-bit signless integer "
            f"cases: {cases}"
        )


_INTEGER = BaseAttr(IntegerType)
_INTEGER_OR_INDEX = BaseAttr(IntegerType) | BaseAttr(IndexType)
_FLOAT = AnyFloatConstr

Fits = Callable[[Attribute, Attribute], bool]
"""Whether one type of number can be converted to another."""


class _ConversionOp(IRDLOperation):
    FITS: ClassVar[Fits]

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not type(self).FITS(source, target):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _bits(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType | AnyFloat)
    return type_.bitwidth


def _widens(source: Attribute, target: Attribute) -> bool:
    return _bits(source) < _bits(target)


def _narrows(source: Attribute, target: Attribute) -> bool:
    return _bits(source) > _bits(target)


def _is_of_index(source: Attribute, target: Attribute) -> bool:
    return isinstance(source, IndexType) != isinstance(target, IndexType)


def _any(source: Attribute, target: Attribute) -> bool:
    return True


_CONVERSIONS: dict[str, tuple[AttrConstraint, AttrConstraint, Fits, str]] = {
    "extsi": (_INTEGER, _INTEGER, _widens, "More bits, by the sign."),
    "extui": (_INTEGER, _INTEGER, _widens, "More bits, by zeros."),
    "trunci": (_INTEGER, _INTEGER, _narrows, "The lower bits."),
    "extf": (_FLOAT, _FLOAT, _widens, "A float of more bits."),
    "truncf": (_FLOAT, _FLOAT, _narrows, "A float of fewer bits, rounded."),
    "sitofp": (_INTEGER, _FLOAT, _any, "A signed integer as a float."),
    "uitofp": (_INTEGER, _FLOAT, _any, "An unsigned integer as a float."),
    "fptosi": (_FLOAT, _INTEGER, _any, "A float as a signed integer, rounded towards zero."),
    "fptoui": (_FLOAT, _INTEGER, _any, "A float as an unsigned integer, rounded towards zero."),
    "index_cast": (
        _INTEGER_OR_INDEX,
        _INTEGER_OR_INDEX,
        _is_of_index,
        "Between an index and an integer, which is extended by its sign.",
    ),
    "index_castui": (
        _INTEGER_OR_INDEX,
        _INTEGER_OR_INDEX,
        _is_of_index,
        "Between an index and an integer, which is extended by zeros.",
    ),
}
"""Source, target, whether two types fit, and the description of the result."""


def _conversion(name: str) -> type[Operation]:
    source, target, fits, text = _CONVERSIONS[name]
    members = {
        "name": f"arith.{name}",
        "__doc__": text,
        "FITS": staticmethod(fits),
        "input": operand_def(source),
        "result": result_def(target),
    }
    return irdl_op_definition(type(f"Arith_{name}_Op", (_ConversionOp,), members))


class BitcastOp(arith.BitcastOp):
    """The same bits as another type of the same width."""

    def verify_(self) -> None:
        if any(isinstance(one.type, IndexType) for one in (self.input, self.result)):
            raise VerifyException("an index has no fixed width")  # xDSL allows it, MLIR does not
        super().verify_()


_CONVERSION_OPERATIONS = {name: _conversion(name) for name in _CONVERSIONS}

Arith = with_operations(
    arith.Arith,
    (CmpfOp, CmpiOp, BitcastOp, *_CONVERSION_OPERATIONS.values()),
    (RemFOp, _CONVERSION_OPERATIONS["index_castui"]),
    without=(arith.AddUIExtendedOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp),
)
