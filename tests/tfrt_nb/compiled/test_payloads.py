"""Python values as bytes of compiled code, and back."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerType,
    MemRefType,
    f64,
    i1,
    i32,
)

from tfrt_nb.compiled.payloads import Payload, payload_of
from tfrt_nb.dialects.async_.types import GROUP, TOKEN
from tfrt_runtime.async_runtime.handles import lent_handle
from tfrt_runtime.host.payload import PayloadError


def payload(type_: object) -> Payload:
    found = payload_of(type_)  # type: ignore[arg-type]
    assert found is not None
    return found


@given(st.integers(2, 100), st.data())
def test_integers_of_any_width_come_back(width: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1))
    crossing = payload(IntegerType(width))
    encoded = crossing.encode(number)

    assert (crossing.decode(encoded), len(encoded)) == (number, crossing.size)


@given(st.floats(allow_nan=False))
def test_doubles_come_back(number: float) -> None:
    assert payload(f64).decode(payload(f64).encode(number)) == number


@pytest.mark.parametrize(
    ("type_", "given_value", "taken"),
    [
        (i1, True, True),
        (i1, 0, False),
        (IndexType(), -5, -5),
        (Float16Type(), 1.5, 1.5),
        (BFloat16Type(), 1.0078125, 1.0078125),
        (BFloat16Type(), 1.00390637, 1.0078125),
        (Float32Type(), 1e300, math.inf),
        (Float32Type(), -1e300, -math.inf),
        (f64, 3, 3.0),
        (i32, np.int8(3), 3),
    ],
)
def test_a_value_comes_back_as_its_type_has_it(
    type_: object, given_value: object, taken: object
) -> None:
    crossing = payload(type_)

    assert crossing.decode(crossing.encode(given_value)) == taken


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (i32, 2**31, "2147483648 does not fit in i32"),
        (i32, 1.5, "expected i32, found float"),
        (i1, 2, "2 does not fit in i1"),
        (IndexType(), "x", "expected index, found str"),
        (f64, "x", "expected f64, found str"),
        (TOKEN, 1, "a token cannot be given from outside"),
        (MemRefType(f64, [2]), [1.0, 2.0], "expected an array of float64 .*, found list"),
        (MemRefType(f64, [2]), np.zeros(2, "f4"), "found array of float32"),
        (MemRefType(f64, [2]), np.zeros(3), r"expected a contiguous array .*, found \(3,\)"),
        (MemRefType(f64, [2]), np.zeros(4)[::2], "expected a contiguous array"),
    ],
)
def test_what_does_not_fit_is_refused(type_: object, value: object, message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        payload(type_).encode(value)


def test_groups_do_not_cross() -> None:
    assert payload_of(GROUP) is None


def test_an_array_is_given_without_a_copy_and_taken_with_one() -> None:
    array = np.arange(6.0).reshape(2, 3)
    crossing = payload(MemRefType(f64, [DYNAMIC_INDEX, 3]))
    encoded = crossing.encode(array)
    taken = crossing.decode(encoded)
    array[0, 0] = 9

    assert struct.unpack("<7q", encoded)[1] == array.ctypes.data
    assert isinstance(taken, np.ndarray)
    assert taken.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_buffer_with_strides_is_taken_element_by_element() -> None:
    array = np.arange(12, dtype="i4")
    described = struct.pack("<7q", lent_handle(array), array.ctypes.data, 1, 2, 2, 4, 2)
    taken = payload(MemRefType(i32, [2, 2])).decode(described)

    assert isinstance(taken, np.ndarray)
    assert taken.tolist() == [[1, 3], [5, 7]]
