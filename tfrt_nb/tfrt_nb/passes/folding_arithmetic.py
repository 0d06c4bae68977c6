"""What MLIR's folders make of operations of `arith` on scalars: a value that is there, or a constant."""

from __future__ import annotations

import math
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.passes.folding_constants import (
    Number,
    computed,
    constant_of,
    integer,
    is_integer,
    signed,
    width_of,
)

Folded: TypeAlias = SSAValue | Number
"""A value that is there already, or a constant to be made."""


def fold_arithmetic(op: Operation) -> Folded | None:
    """What the only result of the operation is, if that is known."""
    if len(op.results) != 1:
        return None
    name = op.name.removeprefix("arith.")
    constants = [constant_of(operand) for operand in op.operands]
    if (found := _by_rule(op, name, constants)) is not None:
        return found
    known = [constant for constant in constants if constant is not None]
    return computed(op, name, known) if len(known) == len(constants) else None


def reorder(op: Operation) -> bool:
    """Move a constant to the right of an operation that allows it, in place; whether it was so."""
    if len(op.operands) != 2:
        return False
    left, right = (constant_of(operand) for operand in op.operands)
    if left is None or right is not None:
        return False
    if isinstance(op, arith.CmpiOp):
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        swapped = arith.CMPI_COMPARISON_OPERATIONS.index(_SWAPPED.get(predicate, predicate))
        op.predicate = IntegerAttr(swapped, op.predicate.type)
    elif op.name.removeprefix("arith.") not in _COMMUTATIVE:
        return False
    op.operands = (op.operands[1], op.operands[0])
    return True


_COMMUTATIVE = frozenset(
    {
        *("addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
        *("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"),
        *("addui_extended", "mulsi_extended", "mului_extended"),
    }
)
_SWAPPED = {
    "slt": "sgt",
    "sle": "sge",
    "sgt": "slt",
    "sge": "sle",
    "ult": "ugt",
    "ule": "uge",
    "ugt": "ult",
    "uge": "ule",
}


# What is known with one constant, or none


def _by_rule(op: Operation, name: str, constants: list[Number | None]) -> Folded | None:
    if name == "select":
        return _fold_select(op)
    if name == "cmpi":
        return _fold_comparison(op)
    if name == "trunci":
        return _fold_truncation(op)
    if len(op.operands) != 2:
        return None
    left, right = op.operands
    if left == right and (
        name in _EXTREMES_OF_TWO or name in ("andi", "ori") and constants[0] is None
    ):
        return left
    if left == right and name in ("subi", "xori"):
        return integer(0, left.type)
    if (found := _undone(op, name)) is not None:
        return found
    number = constants[1]
    if isinstance(number, IntegerAttr):
        return _with_integer(name, left, right, number)
    if isinstance(number, FloatAttr) and number.value.data == _UNITS_OF_FLOATS.get(name):
        sign = math.copysign(1, number.value.data)
        return None if name == "addf" and sign > 0 or name == "subf" and sign < 0 else left
    return None


_EXTREMES_OF_TWO = frozenset(
    {
        *("maxsi", "maxui", "minsi", "minui"),
        *("maximumf", "minimumf", "maxnumf", "minnumf"),
    }
)
_UNITS_OF_FLOATS = {"addf": -0.0, "subf": 0.0, "mulf": 1.0, "divf": 1.0}
_UNITS = {
    **dict.fromkeys(("addi", "subi", "ori", "xori", "shli", "shrsi", "shrui"), 0),
    **dict.fromkeys(("muli", "divsi", "divui", "ceildivsi", "ceildivui", "floordivsi"), 1),
    "andi": -1,
}


def _with_integer(
    name: str, left: SSAValue, right: SSAValue, constant: IntegerAttr
) -> Folded | None:
    """What an operation with a constant on its right is."""
    bits = width_of(constant.type)
    number = signed(constant.value.data, bits)
    if name in _UNITS and number == signed(_UNITS[name], bits):
        return left
    if number == 0 and name in ("muli", "andi"):
        return right
    if number == -1 and name == "ori":
        return constant
    if constant.value.data == 1 and name in ("remsi", "remui"):
        return integer(0, constant.type)
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    extremes = {"maxsi": (most, least), "minsi": (least, most), "maxui": (-1, 0), "minui": (0, -1)}
    if name in extremes:
        absorbing, unit = extremes[name]
        return right if number == absorbing else left if number == unit else None
    return None


def _undone(op: Operation, name: str) -> Folded | None:
    """Two operations of which the second takes back or repeats the first.

    `(a - b) + b`, `(a + b) - b`, `(a ^ b) ^ b`, `(a & b) & b`, `~a & a`, `~a | a`, in any order.
    """
    left, right = op.operands
    if name == "subi":
        if not isinstance(left.owner, arith.AddiOp):
            return None
        return _other(left.owner, right)
    for inner, outer in ((left, right), (right, left)):
        if (found := _undone_in_order(name, inner, outer)) is not None:
            return found
    return None


def _undone_in_order(name: str, inner: SSAValue, outer: SSAValue) -> Folded | None:
    first = inner.owner
    match name, first:
        case "addi", arith.SubiOp():
            return first.lhs if first.rhs == outer else None
        case "xori", arith.XOrIOp():
            return _other(first, outer)
        case "andi", arith.AndIOp():
            return inner if outer in first.operands else None
        case "andi" | "ori", arith.XOrIOp():
            mask = constant_of(first.rhs)
            if first.lhs == outer and mask == _all_ones(outer.type):
                return integer(0, outer.type) if name == "andi" else first.rhs
    return None


def _all_ones(type_: Attribute) -> IntegerAttr:
    return integer(-1, type_)


def _other(op: Operation, value: SSAValue) -> SSAValue | None:
    """The operand that is not the value, if one is it."""
    one, other = op.operands
    return one if other == value else other if one == value else None


def _fold_select(op: Operation) -> SSAValue | None:
    condition, then, otherwise = op.operands
    if then == otherwise:
        return then
    known = constant_of(condition)
    if isinstance(known, IntegerAttr):
        return then if known.value.data else otherwise
    if then.type == i1:
        values = constant_of(then), constant_of(otherwise)
        if all(isinstance(value, IntegerAttr) for value in values):
            yes, no = (bool(v.value.data) for v in values if isinstance(v, IntegerAttr))
            return condition if yes and not no else None
    test = condition.owner
    if isinstance(test, arith.CmpiOp) and {test.lhs, test.rhs} == {then, otherwise}:
        predicate = arith.CMPI_COMPARISON_OPERATIONS[test.predicate.value.data]
        return {"eq": otherwise, "ne": then}.get(predicate)
    return None


def _fold_comparison(op: Operation) -> Folded | None:
    assert isinstance(op, arith.CmpiOp)
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if op.lhs == op.rhs and is_integer(op.lhs.type):
        return integer(int(predicate in ("eq", "sle", "sge", "ule", "uge")), i1)
    number = constant_of(op.rhs)
    is_zero = isinstance(number, IntegerAttr) and number.value.data == 0
    extended = op.lhs.owner
    if is_zero and isinstance(extended, arith.ExtSIOp | arith.ExtUIOp):
        return extended.input if extended.input.type == i1 and predicate == "ne" else None
    return None


def _fold_truncation(op: Operation) -> SSAValue | None:
    extended = op.operands[0].owner
    if isinstance(extended, arith.ExtSIOp | arith.ExtUIOp):
        return extended.input if extended.input.type == op.results[0].type else None
    return None
