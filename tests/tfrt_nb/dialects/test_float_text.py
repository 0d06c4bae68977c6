"""Test that floats are printed digit for digit as by MLIR."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, Float32Type, Float64Type

from tfrt_nb.dialects.attribute_printer import float_text

F16, BF16, F32, F64 = Float16Type(), BFloat16Type(), Float32Type(), Float64Type()


def as_f32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


@pytest.mark.parametrize(
    ("value", "number_type", "text"),
    [
        (7.5, F32, "7.500000e+00"),
        (0.0, F32, "0.000000e+00"),
        (-0.0, F64, "-0.000000e+00"),
        (1e300, F64, "1.000000e+300"),
        (5e-324, F64, "4.940660e-324"),
        (as_f32(0.1), F32, "1.000000e-01"),
        (as_f32(-1.5e-7), F32, "-1.500000e-07"),
        # Six digits, cut and not rounded, are 7.98999, which is a different value.
        (as_f32(7.99), F32, "7.98999977"),
        (as_f32(123456.789), F32, "123456.789"),
        (2.718281828459045, F64, "2.7182818284590451"),
        (98765432109.875, F64, "98765432109.875"),
        (0.1 + 0.2, F64, "0.30000000000000004"),
        (1.2345678901e-9, F64, "1.2345678901000001E-9"),
        (as_f32(1.00000107), F32, "1.00000107"),
        (65504.0, F16, "6.550400e+04"),
        (-2.25, BF16, "-2.250000e+00"),
        # Whole numbers with more than six digits would have no point, so their bits are printed.
        (16777216.0, F32, "0x4B800000"),
        (math.inf, F32, "0x7F800000"),
        (-math.inf, F64, "0xFFF0000000000000"),
        (math.nan, F32, "0x7FC00000"),
        (math.inf, F16, "0x7C00"),
    ],
)
def test_known_values_have_the_text_that_mlir_prints(
    value: float, number_type: AnyFloat, text: str
) -> None:
    assert float_text(value, number_type) == text


NUMBERS = {
    F64: st.floats(allow_nan=False, allow_infinity=False),
    F32: st.floats(width=32, allow_nan=False, allow_infinity=False),
}


@pytest.mark.parametrize("number_type", NUMBERS, ids=str)
@given(st.data())
def test_what_is_printed_of_a_number_is_that_number(
    number_type: Float32Type | Float64Type, data: st.DataObject
) -> None:
    value = data.draw(NUMBERS[number_type])
    text = float_text(value, number_type)

    if text.startswith("0x"):
        bits = int(text, 16).to_bytes(number_type.size, "little")
        assert number_type.unpack(bits, 1) == (value,)
    else:
        assert number_type.unpack(number_type.pack((float(text),)), 1) == (value,)
