"""Constants: the attributes that folding computes with, and the operations that hold them."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.arithmetic import IndexBoolConstantOp, IndexConstantOp

_CONSTANTS = frozenset(("arith.constant", "index.constant", "index.bool.constant", "ub.poison"))
INDEX_BITS = 64


def is_constant(op: Operation) -> bool:
    """Whether the operation is nothing but a constant."""
    return op.name in _CONSTANTS


def constant_of(value: SSAValue) -> Attribute | None:
    """The attribute, if the value is a constant."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name in _CONSTANTS:
        return owner.properties.get("value")
    return None


def integer_of(value: SSAValue) -> int | None:
    """The number, with its sign, if the value is a constant integer."""
    attribute = constant_of(value)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def width_of(type_: Attribute) -> int:
    """The bits of an integer or index."""
    return type_.width.data if isinstance(type_, IntegerType) else INDEX_BITS


def is_integer(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType | IndexType)


def signed(number: int, width: int) -> int:
    """The lowest bits of a number, read with a sign."""
    half = 1 << (width - 1)
    return ((number + half) & ((1 << width) - 1)) - half


def integer(number: int, type_: Attribute) -> IntegerAttr:
    """The lowest bits of `number` as a constant of the type."""
    assert isinstance(type_, IntegerType | IndexType)
    return IntegerAttr(signed(number, width_of(type_)), type_)


def constant_op(value: Attribute, type_: Attribute, dialect: str = "arith") -> Operation | None:
    """A new operation that holds the constant, None if there is none for it."""
    if dialect == "index":
        return _index_constant_op(value, type_)
    if isinstance(value, IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr):
        return arith.ConstantOp.create(properties={"value": value}, result_types=[type_])
    return None


def _index_constant_op(value: Attribute, type_: Attribute) -> Operation | None:
    if type_ == IndexType():
        return IndexConstantOp.create(properties={"value": value}, result_types=[type_])
    if type_ == i1:
        return IndexBoolConstantOp.create(properties={"value": value}, result_types=[type_])
    return None
