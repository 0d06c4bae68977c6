"""What MLIR's folders make of operations of `arith` on scalars: a value that is there, or a constant.

Integers are taken as MLIR stores them, in two's complement; a fold gives the value with its sign.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike

Number: TypeAlias = IntegerAttr | FloatAttr
Folded: TypeAlias = SSAValue | Number
"""A value that is there already, or a constant to be made."""

_INDEX_BITS = 64


def fold_arithmetic(op: Operation) -> Folded | None:
    """What the only result of the operation is, if that is known."""
    if len(op.results) != 1:
        return None
    name = op.name.removeprefix("arith.")
    constants = [constant_of(operand) for operand in op.operands]
    if (found := _by_rule(op, name, constants)) is not None:
        return found
    if any(constant is None for constant in constants):
        return None
    type_ = op.results[0].type
    if all(isinstance(constant, IntegerAttr) for constant in constants) and is_integer(type_):
        return _of_integers(op, name, [c for c in constants if isinstance(c, IntegerAttr)])
    if isinstance(type_, _FLOATS) and all(isinstance(c, FloatAttr) for c in constants):
        return _of_floats(
            name, [c.value.data for c in constants if isinstance(c, FloatAttr)], type_
        )
    return _across(op, name, constants)


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


def constant_of(value: SSAValue) -> Number | None:
    """The number that a value is, if a constant defines it."""
    owner = value.owner
    if not isinstance(owner, Operation) or not owner.has_trait(ConstantLike):
        return None
    number = owner.properties.get("value")
    return number if isinstance(number, IntegerAttr | FloatAttr) else None


def is_integer(type_: Attribute) -> bool:
    """Whether values of the type are integers or indices."""
    return isinstance(type_, IntegerType | IndexType)


def _width(type_: Attribute) -> int:
    return type_.width.data if isinstance(type_, IntegerType) else _INDEX_BITS


def _signed(number: int, bits: int) -> int:
    half = 1 << bits - 1
    return (number + half) % (2 * half) - half


def integer(number: int, type_: Attribute) -> IntegerAttr:
    """The number, wrapped to the type, with the sign that MLIR prints."""
    assert isinstance(type_, IntegerType | IndexType)
    bits = _width(type_)
    return IntegerAttr(number % 2 if bits == 1 else _signed(number, bits), type_)


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
    bits = _width(constant.type)
    number = _signed(constant.value.data, bits)
    if name in _UNITS and number == _signed(_UNITS[name], bits):
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
        return constant if number == absorbing else left if number == unit else None
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


# What constants give

_Integers: TypeAlias = Callable[[int, int], int | None]


def _divided(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int | None:
    quotient = _divided(left, right)
    return None if quotient is None else left - quotient * right


def _floor(left: int, right: int) -> int | None:
    return None if right == 0 else left // right


def _ceiling(left: int, right: int) -> int | None:
    return None if right == 0 else -(-left // right)


_SIGNED: dict[str, _Integers] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": _divided,
    "remsi": _remainder,
    "floordivsi": _floor,
    "ceildivsi": _ceiling,
    "maxsi": max,
    "minsi": min,
}
_UNSIGNED: dict[str, _Integers] = {
    "divui": _floor,
    "remui": lambda a, b: a % b if b else None,
    "ceildivui": _ceiling,
    "maxui": max,
    "minui": min,
}
_SHIFTS: dict[str, Callable[[int, int], int]] = {
    "shli": lambda a, b: a << b,
    "shrsi": lambda a, b: a >> b,
}
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _of_integers(op: Operation, name: str, constants: list[IntegerAttr]) -> Number | None:
    bits = _width(constants[0].type)
    type_ = op.results[0].type
    signed = [_signed(constant.value.data, bits) for constant in constants]
    unsigned = [number % (1 << bits) for number in signed]
    if name in ("extsi", "trunci", "index_cast"):
        return integer(signed[0], type_)
    if name in ("extui", "index_castui"):
        return integer(unsigned[0], type_)
    if isinstance(op, arith.CmpiOp):
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        numbers = unsigned if predicate.startswith("u") else signed
        return integer(int(_TESTS[predicate[-2:]](*numbers)), type_)
    if name in _SHIFTS or name == "shrui":
        if unsigned[1] >= bits:
            return None
        shifted = unsigned[0] >> unsigned[1] if name == "shrui" else None
        return integer(_SHIFTS[name](signed[0], unsigned[1]) if shifted is None else shifted, type_)
    result = None
    if name in _SIGNED:
        result = _SIGNED[name](*signed)
        overflows = result is not None and "div" in name and result != _signed(result, bits)
        result = None if overflows else result
    elif name in _UNSIGNED:
        result = _UNSIGNED[name](*unsigned)
    return None if result is None else integer(result, type_)


_FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type)
_FORMATS: dict[type[Attribute], str] = {
    Float16Type: "<e",
    Float32Type: "<f",
    Float64Type: "<d",
}


def float_of(number: float, type_: AnyFloat) -> FloatAttr:
    """The nearest number of the type."""
    return FloatAttr(_rounded(number, type_), type_)


def _rounded(number: float, type_: Attribute) -> float:
    if isinstance(type_, BFloat16Type):
        return _rounded_to_bfloat(number)
    format_ = _FORMATS[type(type_)]
    try:
        return float(struct.unpack(format_, struct.pack(format_, number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _rounded_to_bfloat(number: float) -> float:
    """The upper half of a 32-bit float, to the nearest, ties to even."""
    if not math.isfinite(number):
        return number
    mantissa, exponent = math.frexp(number)
    digits = 8 - max(0, -125 - exponent)
    return math.ldexp(round(math.ldexp(mantissa, digits)), exponent - digits)


def _quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


_OF_FLOATS: dict[str, Callable[[float, float], float]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": _quotient,
    "remf": lambda a, b: math.fmod(a, b) if b and math.isfinite(a) else math.nan,
}
_EXTREMES: dict[str, Callable[[float, float], float]] = {
    **dict.fromkeys(("maximumf", "maxnumf"), max),
    **dict.fromkeys(("minimumf", "minnumf"), min),
}


def _of_floats(name: str, numbers: list[float], type_: AnyFloat) -> Number | None:
    if name == "negf":
        return FloatAttr(-numbers[0], type_)
    if name in ("extf", "truncf"):
        converted = float_of(numbers[0], type_)
        return converted if converted.value.data == numbers[0] else None
    if name in _EXTREMES:
        if any(math.isnan(number) for number in numbers) or numbers[0] == numbers[1]:
            return None
        return FloatAttr(_EXTREMES[name](*numbers), type_)
    if name in _OF_FLOATS:
        result = _OF_FLOATS[name](numbers[0], numbers[1])
        return None if math.isnan(result) else float_of(result, type_)
    return None


_PREDICATES: dict[str, Callable[[float, float], bool]] = {
    **{f"o{name}": test for name, test in _TESTS.items()},
    "one": lambda a, b: a < b or a > b,
    "ord": lambda a, b: not (math.isnan(a) or math.isnan(b)),
}
_OPPOSITES = {
    "ueq": "one",
    "une": "oeq",
    "ult": "oge",
    "ule": "ogt",
    "ugt": "ole",
    "uge": "olt",
    "uno": "ord",
}


def _across(op: Operation, name: str, constants: list[Number | None]) -> Number | None:
    """From integers to floats and back."""
    type_, first = op.results[0].type, constants[0]
    if isinstance(op, arith.CmpfOp):
        numbers = [float(c.value.data) for c in constants if c is not None]
        return _compared(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data], numbers)
    if isinstance(first, IntegerAttr) and isinstance(type_, _FLOATS):
        bits = _width(first.type)
        number = _signed(first.value.data, bits)
        if name == "sitofp":
            return float_of(number, type_)
        return float_of(number % (1 << bits), type_) if name == "uitofp" else None
    if isinstance(first, FloatAttr) and isinstance(type_, IntegerType):
        return _truncated(name, first.value.data, type_)
    return None


def _compared(predicate: str, numbers: list[float]) -> Number | None:
    if predicate in ("false", "true"):
        return integer(int(predicate == "true"), i1)
    if predicate in _OPPOSITES:
        return integer(int(not _PREDICATES[_OPPOSITES[predicate]](*numbers)), i1)
    return integer(int(_PREDICATES[predicate](*numbers)), i1)


def _truncated(name: str, number: float, type_: IntegerType) -> Number | None:
    """Towards zero; out of range is left to the processor."""
    if not math.isfinite(number):
        return None
    whole, bits = int(number), type_.width.data
    if name == "fptosi" and whole == _signed(whole, bits):
        return integer(whole, type_)
    if name == "fptoui" and 0 <= whole < 1 << bits:
        return integer(whole, type_)
    return None
