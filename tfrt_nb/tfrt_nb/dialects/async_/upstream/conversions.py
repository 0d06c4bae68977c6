"""Conversions of `arith`, whose refusals name both types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, AnyFloatConstr, IndexType, IntegerType
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

_INTEGER = BaseAttr(IntegerType)
_INTEGER_OR_INDEX = BaseAttr(IntegerType) | BaseAttr(IndexType)
_FLOAT = AnyFloatConstr

Fits = Callable[[Attribute, Attribute], bool]
"""Whether one type of number is converted to another."""


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
"""From what, to what, whether two types fit, and what it gives."""


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
    """The same bits as another type of as many."""

    def verify_(self) -> None:
        if any(isinstance(one.type, IndexType) for one in (self.input, self.result)):
            raise VerifyException("the width of an index is open")  # xDSL allows it, MLIR does not
        super().verify_()


OPERATIONS: dict[str, type[Operation]] = {
    "bitcast": BitcastOp,
    **{name: _conversion(name) for name in _CONVERSIONS},
}
"""What replaces operations of xDSL, and `index_castui`, which it lacks."""
