"""What operations of `arith` give for constants, as MLIR computes it.

Integers are taken as MLIR stores them, in two's complement; a result has the sign that MLIR prints.
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

_INDEX_BITS = 64


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


def width_of(type_: Attribute) -> int:
    return type_.width.data if isinstance(type_, IntegerType) else _INDEX_BITS


def signed(number: int, bits: int) -> int:
    half = 1 << bits - 1
    return (number + half) % (2 * half) - half


def integer(number: int, type_: Attribute) -> IntegerAttr:
    """The number, wrapped to the type, with the sign that MLIR prints."""
    assert isinstance(type_, IntegerType | IndexType)
    bits = width_of(type_)
    return IntegerAttr(number % 2 if bits == 1 else signed(number, bits), type_)


def computed(op: Operation, name: str, constants: list[Number]) -> Number | None:
    """The result of the operation with constants for its operands; `name` is without its dialect."""
    type_ = op.results[0].type
    integers = [constant for constant in constants if isinstance(constant, IntegerAttr)]
    floats = [constant.value.data for constant in constants if isinstance(constant, FloatAttr)]
    if is_integer(type_) and not floats:
        return _of_integers(op, name, integers)
    if isinstance(type_, _FLOATS) and not integers:
        return _of_floats(name, floats, type_)
    return _across(op, name, constants)


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
    "shrui": lambda a, b: a >> b,
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
    bits = width_of(constants[0].type)
    type_ = op.results[0].type
    numbers = [signed(constant.value.data, bits) for constant in constants]
    unsigned = [number % (1 << bits) for number in numbers]
    if name in ("extsi", "trunci", "index_cast"):
        return integer(numbers[0], type_)
    if name in ("extui", "index_castui"):
        return integer(unsigned[0], type_)
    if isinstance(op, arith.CmpiOp):
        predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        compared = unsigned if predicate.startswith("u") else numbers
        return integer(int(_TESTS[predicate[-2:]](*compared)), type_)
    if name in _SHIFTS:
        shifted = unsigned[0] if name == "shrui" else numbers[0]
        distance = unsigned[1]
        return integer(_SHIFTS[name](shifted, distance), type_) if distance < bits else None
    result = None
    if name in _SIGNED:
        result = _SIGNED[name](*numbers)
        if result is not None and "div" in name and result != signed(result, bits):
            return None
        if name == "ceildivsi" and numbers[0] and -(1 << bits - 1) in numbers:
            return None  # MLIR negates what is negative
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


def _across(op: Operation, name: str, constants: list[Number]) -> Number | None:
    """From integers to floats and back."""
    type_, first = op.results[0].type, constants[0]
    if isinstance(op, arith.CmpfOp):
        numbers = [float(c.value.data) for c in constants]
        return _compared(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data], numbers)
    if isinstance(first, IntegerAttr) and isinstance(type_, _FLOATS):
        bits = width_of(first.type)
        number = signed(first.value.data, bits)
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
    if name == "fptosi" and whole == signed(whole, bits):
        return integer(whole, type_)
    if name == "fptoui" and 0 <= whole < 1 << bits:
        return integer(whole, type_)
    return None
