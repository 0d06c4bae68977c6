"""Test Python functions over numbers, which native code calls directly."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import user_kernel

QUEUES = ("s", "mstd:2")


def run(
    function: Callable[..., object],
    types: tuple[str, ...],
    result: str,
    values: tuple[object, ...],
    queue: str = "s",
) -> object:
    """Return the outcome of a program that calls a user's kernel once."""
    arguments = ", ".join(f"%{i}: {one}" for i, one in enumerate(types))
    given = ", ".join(f"%{i}" for i in range(len(types)))
    program = Program.from_source(
        f"func.func @main({arguments}) -> {result} {{\n"
        f'  %r = "test.called"({given}) : ({", ".join(types)}) -> {result}\n'
        f"  tfrt.return %r : {result}\n}}"
    )
    kernels = {**available_kernels(), "test.called": user_kernel("test.called", function)}
    with HostContext(work_queue=queue) as host:
        return program.run(*values, host=host, kernels=kernels).result(10)


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize(
    ("word", "value"),
    [
        *(("i8", one) for one in (-128, -1, 0, 127)),
        *(("i16", one) for one in (-(2**15), -1, 2**15 - 1)),
        *(("i32", one) for one in (-(2**31), -1, 2**31 - 1)),
        *(("i64", one) for one in (-(2**63), -1, 2**63 - 1)),
        *(("f32", one) for one in (-0.5, 1e30, math.inf)),
        *(("f64", one) for one in (-0.1, 1e300, -math.inf)),
    ],
)
def test_a_number_comes_back_as_it_was(word: str, value: float, queue: str) -> None:
    found: list[object] = []

    def same(x: object) -> object:
        found.append(x)
        return x

    assert run(same, (word,), word, (value,), queue) == pytest.approx(value, rel=1e-6)
    assert type(found[0]) is type(value)


def test_a_bool_is_a_bool() -> None:
    assert run(lambda x, y: 1 if x is True and y is False else 0, ("i1", "i1"), "i32", (1, 0)) == 1


def test_a_number_is_rounded_to_f32_and_not_to_infinity() -> None:
    largest = float.fromhex("0x1.fffffep127")
    for given in (largest, math.nextafter(2.0**128 - 2.0**103, 0)):
        assert run(lambda x: x, ("f32",), "f32", (given,)) == largest
    for given in (2.0**128 - 2.0**103, -1e300):
        with pytest.raises(TfrtError, match=r"argument 1 .*does not fit in f32"):
            run(lambda x: x, ("f32",), "f32", (given,))


def test_numbers_of_other_types_are_taken() -> None:
    class Seven:
        def __index__(self) -> int:
            return 7

    assert run(lambda x: Seven(), ("i32",), "i32", (1,)) == 7
    assert run(lambda x: x, ("i32",), "f64", (3,)) == 3.0


def test_no_object_is_left_behind() -> None:
    error, number = ValueError("kept"), 10**15

    def function(x: int) -> int:
        if x < 0:
            raise error
        return number

    gc.collect()
    before = sys.getrefcount(number), sys.getrefcount(function)
    for _ in range(50):
        assert run(function, ("i64",), "i64", (10**14,)) == number
    gc.collect()
    assert (sys.getrefcount(number), sys.getrefcount(function)) == before
