"""Test the functions that LLVM calls to round to bf16 if the processor cannot."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfrt_nb.jit.compiler import MachineCode, load, object_code

ROUND = """
define i16 @{name}({type} %x) {{
  %y = call bfloat @{function}({type} %x)
  %word = bitcast bfloat %y to i16
  ret i16 %word
}}
declare bfloat @{function}({type})
"""
TIE = 1 + 2**-8
MAX = float.fromhex("0x1.fep127")
MIN_ROUNDED_UP = float.fromhex("0x1.ffp127")


@pytest.fixture(scope="module")
def code() -> MachineCode:
    text = ROUND.format(name="from_f32", type="float", function="__truncsfbf2")
    text += ROUND.format(name="from_f64", type="double", function="__truncdfbf2")
    return load(object_code(text), {})


def rounded(number: float) -> float:
    """Return the nearest number with 8 binary digits, by exact arithmetic."""
    if not math.isfinite(number) or number == 0:
        return number
    exponent = max(math.frexp(number)[1] - 1, -126)
    digit = Fraction(2) ** (exponent - 7)
    nearest = round(Fraction(number) / digit) * digit
    return math.copysign(math.inf if abs(nearest) > Fraction(MAX) else float(abs(nearest)), number)


def value(word: int) -> float:
    [number] = struct.unpack("<f", struct.pack("<HH", 0, word & 0xFFFF))
    return float(number)


def function(code: MachineCode, name: str, type_: type) -> Callable[[float], int]:
    return ctypes.CFUNCTYPE(ctypes.c_int16, type_)(code.address(name))


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


@given(number=st.floats(width=32))
@example(number=TIE)
@example(number=-TIE)
@example(number=3 * 2**-8 + 1)
@example(number=MIN_ROUNDED_UP)
@example(number=2**-133)
@example(number=2**-134)
def test_a_float_is_rounded_to_the_nearest(code: MachineCode, number: float) -> None:
    given_word = function(code, "from_f32", ctypes.c_float)(number)
    assert same(value(given_word), rounded(number))


@given(number=st.floats(width=64))
@example(number=TIE)
@example(number=TIE + 2**-50)
@example(number=TIE - 2**-50)
@example(number=-TIE - 2**-50)
@example(number=MIN_ROUNDED_UP - 2.0**75)
@example(number=MIN_ROUNDED_UP)
@example(number=1e300)
@example(number=2**-134 + 2**-180)
@example(number=5e-324)
def test_a_double_is_rounded_once(code: MachineCode, number: float) -> None:
    given_word = function(code, "from_f64", ctypes.c_double)(number)
    assert same(value(given_word), rounded(number))


def test_a_nan_with_low_bits_only_stays_one(code: MachineCode) -> None:
    [number] = struct.unpack("<f", struct.pack("<I", 0x7F800001))
    assert math.isnan(value(function(code, "from_f32", ctypes.c_float)(number)))
