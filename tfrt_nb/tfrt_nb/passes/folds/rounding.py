"""Numbers as the float types have them."""

from __future__ import annotations

import math
import struct

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
)
from xdsl.ir import Attribute

_FORMATS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("<e", "<H"),
    Float32Type: ("<f", "<I"),
    Float64Type: ("<d", "<Q"),
}


def rounded(number: float, type_: Attribute) -> float:
    """The nearest number that the type has, the even one of two; infinite if it is too large."""
    if isinstance(type_, Float64Type) or not math.isfinite(number):
        return number
    if isinstance(type_, BFloat16Type):
        return _rounded_to_bfloat(number)
    as_float, _ = _FORMATS[type(type_)]
    try:
        return float(struct.unpack(as_float, struct.pack(as_float, number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _rounded_to_bfloat(number: float) -> float:
    if number == 0:
        return number
    _, exponent = math.frexp(number)
    unit = math.ldexp(1.0, max(exponent - 8, -133))
    nearest = round(number / unit) * unit
    return math.copysign(math.inf if abs(nearest) >= 2.0**128 else abs(nearest), number)


def float_constant(number: float, type_: Attribute) -> FloatAttr:
    """The nearest constant of the type.  An integer is rounded once."""
    assert isinstance(type_, AnyFloat)
    return FloatAttr(rounded(_once(number, type_), type_), type_)


def _once(number: float, type_: Attribute) -> float:
    """A float that rounds to what the number rounds to: large integers are cut, with a sticky bit."""
    if not isinstance(number, int) or isinstance(type_, Float64Type):
        return float(number)
    surplus = abs(number).bit_length() - 50
    if surplus <= 0:
        return float(number)
    kept = abs(number) >> surplus
    if abs(number) & ((1 << surplus) - 1):
        kept |= 1
    return math.copysign(math.ldexp(float(kept), surplus), number)


def bits_of(number: float, type_: Attribute) -> int:
    """The bits of a number that the type has."""
    if isinstance(type_, BFloat16Type):
        return bits_of(number, Float32Type()) >> 16
    as_float, as_integer = _FORMATS[type(type_)]
    return int(struct.unpack(as_integer, struct.pack(as_float, number))[0])


def from_bits(bits: int, type_: AnyFloat) -> FloatAttr:
    """The number with these bits."""
    if isinstance(type_, BFloat16Type):
        as_single = from_bits(bits << 16, Float32Type())
        return FloatAttr(as_single.value.data, type_)
    as_float, as_integer = _FORMATS[type(type_)]
    return FloatAttr(struct.unpack(as_float, struct.pack(as_integer, bits))[0], type_)
