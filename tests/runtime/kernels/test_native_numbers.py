"""Test numbers in native kernels: results that machines leave undefined are as in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.users.numba_kernels import NumbaFunction
from tfrt_runtime.kernels.users.signatures import parse_signature

LEAST = -(2**63)
Function = Callable[[Any, Any], Any]


def shifted_in_place(a: Any, b: Any) -> Any:
    a >>= b
    return a


def native(function: Function, a: int, b: int) -> object:
    """Return the result of the function as a native kernel."""
    return NumbaFunction("k", function, parse_signature("(i64, i64) -> i64")).call(a, b)


@pytest.mark.parametrize(
    ("function", "a", "b"),
    [
        (lambda a, b: a // b, LEAST, 2),
        (lambda a, b: a // b, -7, 2),
        (lambda a, b: a >> b, 8, 64),
        (lambda a, b: a >> b, -8, 64),
        (lambda a, b: a >> b, -8, 63),
        (shifted_in_place, -8, 200),
        (lambda a, b: a << b, -1, 63),
        (lambda a, b: a << b << 3, 3, 4),
        (lambda a, b: a**b + a**2, 3, 4),
        (lambda a, b: divmod(a, b)[0] + divmod(a, b)[1], -7, 2),
        (lambda a, b: int(a / b) + round(a / b) + math.floor(a / b), -7, 2),
        (lambda a, b: int(a) + int(round(a / b, 1) // 1), 7, 2),
    ],
)
def test_a_result_is_that_of_python(function: Function, a: int, b: int) -> None:
    assert native(function, a, b) == function(a, b)


@pytest.mark.parametrize("count", [64, 65, 2**40])
def test_a_shift_to_the_left_by_many_bits_shifts_all_of_them_out(count: int) -> None:
    assert native(lambda a, b: a << b, 3, count) == 0


@pytest.mark.parametrize(
    ("function", "a", "b", "wrong"),
    [
        (lambda a, b: a // b, LEAST, -1, OverflowError),
        (lambda a, b: divmod(a, b)[0], LEAST, -1, OverflowError),
        (lambda a, b: a // b, 5, 0, ZeroDivisionError),
        (lambda a, b: a << b, 1, -1, ValueError),
        (lambda a, b: a >> b, 1, -1, ValueError),
        (shifted_in_place, 1, -64, ValueError),
        (lambda a, b: a**b, 2, -1, ValueError),
        (lambda a, b: pow(a, b), 0, -1, ZeroDivisionError),
        (lambda a, b: int(a * 1e300), 1, 0, OverflowError),
        (lambda a, b: int(a * 1e308 * 10), 1, 0, OverflowError),
        (lambda a, b: int(a * 1e308 * 10 * b), 1, 0, ValueError),
        (lambda a, b: round(a * 1e300), 1, 0, OverflowError),
        (lambda a, b: math.ceil(a * 1e300), -1, 0, OverflowError),
        (lambda a, b: math.trunc(a * -9223372036854775808.0), -1, 0, OverflowError),
    ],
)
def test_what_has_no_result_in_64_bits_raises(
    function: Function, a: int, b: int, wrong: type[Exception]
) -> None:
    with pytest.raises(wrong):
        native(function, a, b)


def calculate_with_elements(a: Any, b: Any, s: Any, n: Any, out: Any) -> None:
    distance = lambda x, y: abs(int(x) - int(y))
    total = 0
    for i in range(len(a)):
        x, y = a[i], b[i]
        total += x - y
        row = out[i]
        row[0] = x - y
        row[1] = abs(x - y)
        row[2] = distance(x, y)
        row[3] = -int(x) // 2 + (-int(x)) % 7 + ~int(x)
        row[4] = int(x) - int(y) < 0
        row[5] = min(x - y, 0) + max(x - n, n)
        row[6] = (x if y > 3 else 7) - 8
        row[7] = x + y * x - 1 + n
        row[8] = int(x ^ y) - (x & 255) - (x | n)
        row[9] = x // (y | 1) - x % (y | 1) - divmod(x, y | 1)[0] - 9
        row[10] = -s + ~s - s
        row[11] = math.floor((x - y) / 2) + round(x) - 300
        row[12] = x**2 - 2 ** (x & 7) - (x << 1) - (x >> 1)
        row[13] = total
        for k in range(x & 3):
            row[13] += k - y


@pytest.mark.parametrize("words", [("ui8", "ui32"), ("i8", "ui16")])
def test_an_operator_takes_elements_as_whole_numbers_of_64_bits(words: tuple[str, str]) -> None:
    one, other = words
    signature = f"(tensor<?x{one}>, tensor<?x{other}>, {one}, i64, out tensor<?x?xi64>) -> ()"
    kernel = NumbaFunction("k", calculate_with_elements, parse_signature(signature))
    kinds = [np.dtype(word.replace("i", "int")) for word in words]
    a = [0, 3, 100, np.iinfo(kinds[0]).max, np.iinfo(kinds[0]).min]
    b = [0, np.iinfo(kinds[1]).max, 100, 3, 1]
    found, expected = np.zeros((5, 14), np.int64), np.zeros((5, 14), object)

    kernel.call(np.array(a, kinds[0]), np.array(b, kinds[1]), a[3], -5, found)
    calculate_with_elements(a, b, a[3], -5, expected)
    assert found.tolist() == expected.tolist()


def test_an_element_alone_keeps_its_type_as_in_numpy() -> None:
    def calculate(a: Any) -> Any:
        return (
            int(-a[0]) + 1000 * int(~a[0]) + 10**6 * int(np.sum(a) > 300) + int(np.uint8(a[0] - 5))
        )

    a = np.array([3, 250, 255], np.uint8)
    found = NumbaFunction("k", calculate, parse_signature("(tensor<?xui8>) -> i64")).call(a)
    with np.errstate(over="ignore"):
        assert found == calculate(a)


def test_unsigned_numbers_of_64_bits_stay_unsigned_until_int_gives_them_a_sign() -> None:
    def calculate(a: Any, u: Any) -> Any:
        h = 14695981039346656037
        for v in a:
            h = ((h ^ v) * 1099511628211) - 1
        if u > -1:
            h += ~a[0] + (1 << a[0]) + max(a[0] - a[1], 5) // 3
        return h, int(a[0]) - int(a[1]), abs(int(a[0]) - 250)

    a = np.array([3, 250], np.uint64)
    signature = "(tensor<?xui64>, ui64) -> (ui64, i64, i64)"
    kernel = NumbaFunction("k", calculate, parse_signature(signature))
    with np.errstate(over="ignore"):
        assert kernel.call(a, 2**63) == calculate(a, 2**63)


def test_the_int_of_an_unsigned_number_that_does_not_fit_raises() -> None:
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        NumbaFunction("k", lambda u: -int(u), parse_signature("(ui64) -> i64")).call(2**63)


def added(a: Any, n: Any) -> Any:
    return a[0] + n


def counted_from_0(a: Any, n: Any) -> Any:
    total = 0
    for v in a[:n]:
        total += v
    return total


def moved(a: Any, n: Any) -> Any:
    return (a - 1)[n]


@pytest.mark.parametrize(
    "function", [added, counted_from_0, moved, lambda a, n: divmod(a[0], n)[1]]
)
def test_a_ui64_is_not_mixed_with_a_number_that_has_a_sign(function: Function) -> None:
    signature = parse_signature("(tensor<?xui64>, i64) -> ui64")
    with pytest.raises(KernelError, match=r"convert the ui64 with int\(x\)"):
        NumbaFunction("k", function, signature).prepare()
