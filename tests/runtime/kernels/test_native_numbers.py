"""Numbers in native kernels: what a machine leaves undefined is Python's result, or Python's error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tfrt_runtime.kernels.users.numba_kernels import NumbaFunction
from tfrt_runtime.kernels.users.signatures import parse_signature

LEAST = -(2**63)
Function = Callable[[Any, Any], Any]


def shifted_in_place(a: Any, b: Any) -> Any:
    a >>= b
    return a


def native(function: Function, a: int, b: int) -> object:
    """What the function returns as a native kernel."""
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
