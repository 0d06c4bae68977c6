"""Types of numbers: how wide integers are, and how floats are rounded to their type."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

from tfrt_nb.jit.llvm_types import UnsupportedType


def width_of(type_: Attribute) -> int:
    """Return the number of bits of an integer; 0 for other types."""
    if isinstance(type_, IntegerType):
        return int(type_.width.data)
    return 64 if isinstance(type_, IndexType) else 0


def is_float(type_: Attribute) -> bool:
    """Return whether a type is one of floats."""
    return isinstance(type_, Float64Type | Float32Type | Float16Type | BFloat16Type)


def rounding(type_: Attribute) -> Callable[[float], float] | None:
    """Return the function that rounds a float to its type; None for an f64."""
    match type_:
        case Float64Type():
            return None
        case Float32Type():
            return to_single
        case Float16Type():
            return _to_half
        case BFloat16Type():
            return _to_brain
        case _:
            raise UnsupportedType(f"'{type_}' is not a type of compiled code")


def to_single(x: float) -> float:
    return ctypes.c_float(x).value


def _to_half(x: float) -> float:
    try:
        return float(struct.unpack("<e", struct.pack("<e", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def _to_brain(x: float) -> float:
    """Round to nearest, ties to even, from a single that was rounded to odd: see `jit.compiler`."""
    single = ctypes.c_float(x).value
    bits = int.from_bytes(struct.pack("<f", single), "little")
    if math.isnan(x):
        return _brain_of(bits >> 16 | 64)
    if single != x:
        bits = bits - (abs(single) > abs(x)) | 1
    return _brain_of(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


def _brain_of(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0])
