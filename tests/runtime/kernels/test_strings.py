"""Test strings: joining, comparing, formatting, and reading them."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrt_runtime.kernels.basic.strings import format_like_printf
from tfrt_runtime.kernels.registry import KernelError


@pytest.mark.parametrize(
    ("pattern", "value", "text"),
    [
        ("part-%05d-of-99", 37, "part-00037-of-99"),
        ("0x%x", 37, "0x25"),
        ("%x", -1, "ffffffff"),
        ("%u", -1, "4294967295"),
        ("%-6d|%%", 42, "42    |%"),
        ("no conversion", 1, "no conversion"),
        ("", 1, ""),
    ],
)
def test_a_number_is_formatted_as_in_c(kernels, pattern, value, text) -> None:
    assert kernels("tfrt_test.format_string", pattern, value) == text


@given(
    st.text("-+ #0", max_size=3),
    st.one_of(st.just(""), st.integers(1, 30).map(str)),
    st.one_of(st.just(""), st.just("."), st.integers(0, 20).map(lambda n: f".{n}")),
    st.sampled_from(["", "l"]),
    st.sampled_from("diuoxX"),
    st.integers(-(2**31), 2**31 - 1),
)
def test_every_conversion_of_an_int_is_that_of_the_c_library(
    flags: str, width: str, precision: str, length: str, conversion: str, value: int
) -> None:
    ours = format_like_printf(f"<%{flags}{width}{precision}{length}{conversion}>", value)
    expected = ctypes.create_string_buffer(200)
    pattern = f"<%{flags}{width}{precision}{conversion}>".encode()
    ctypes.CDLL(None).snprintf(expected, 200, pattern, ctypes.c_int(value))
    assert ours == expected.value.decode()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("%s", "format '%s' has a conversion that does not print an i32"),
        ("%n", "format '%n' has a conversion that does not print an i32"),
        ("100%", "format '100%' has a conversion that does not print an i32"),
        ("%*d", r"format '%\*d' has a conversion that does not print an i32"),
        ("%d and %d", "has more than one conversion, but there is one value"),
        ("%999999999d", "format '%999999999d' is wider than 4096 characters"),
        ("%.999999999d", "format '%.999999999d' is wider than 4096 characters"),
        ("%" + "9" * 5000 + "d", "is wider than 4096 characters"),
    ],
)
def test_a_format_that_c_would_trip_over_is_refused(kernels, pattern, message) -> None:
    with pytest.raises(KernelError, match=message):
        kernels("tfrt_test.format_string", pattern, 1)
