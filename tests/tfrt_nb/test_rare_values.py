"""Test rare values, annotations, and exceptions, which callers of the Python API may meet."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import enum
import math
import pickle
import sys
import time
from concurrent.futures import Future
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np
import pytest

import tfrt_nb as tfrt

SLOW = 60


@tfrt.program
def plus_one(a: tfrt.i32) -> Any:
    return a + 1


def test_the_results_of_a_batch_are_not_copied() -> None:
    batch = plus_one.map([1, 2, 3])
    assert batch.result(SLOW) == [2, 3, 4]
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            function(batch.results)
    assert [value.result(0) for value in batch.results] == [2, 3, 4]


def test_annotations_may_name_several_types_or_have_metadata() -> None:
    @tfrt.kernel
    def half(x: int) -> int | float:
        return x / 2 if x % 2 else x // 2

    @tfrt.kernel
    def metres(x: Annotated[int, {"unit": "m"}]) -> Annotated[int, {"unit": "m"}]:
        return x + 1

    assert [tfrt.call(half, number).result(SLOW) for number in (3, 4)] == [1.5, 2]
    assert tfrt.call(metres, 3).result(SLOW) == 4


def test_a_timeout_may_be_any_real_number() -> None:
    late: Future[int] = Future()
    run = plus_one(late)
    for wait in (run.result, run.results[0].result, partial(run.first, 1)):
        for seconds in (Fraction(1, 100), np.float32(0.01), np.int64(0), 0):
            with pytest.raises(TimeoutError, match=r"still unavailable after 0(\.01)? s"):
                wait(timeout=seconds)
    late.set_result(1)
    assert run.result(Fraction(SLOW)) == 2


LONE = """func.func @"name\ud800"(%c: i1) {
  %chain = tfrt.new.chain
  %next = "rare.say"(%chain) {text = "text\ud800"} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}
func.func private @check(%c: i1) -> i1 {
  cf.assert %c, "message\ud800"
  return %c : i1
}
"""


def test_a_lone_surrogate_keeps_its_bytes() -> None:
    @tfrt.kernel
    def shout(x: int, *, text: str) -> str:
        return text.upper()

    assert tfrt.call(shout, 1, text="a\ud800").result(SLOW).encode(errors="surrogateescape") == (
        b"A\xed\xa0\x80"
    )
    data = tfrt.Program.from_source(LONE).bef
    for word in (b"name", b"text", b"message"):
        assert word + b"\xed\xa0\x80" in data or word + b"\\ED\\A0\\80" in data
    assert tfrt.Program.from_bef(data).bef == data


class Mode(enum.StrEnum):
    FAST = "fast"


class Level(enum.IntEnum):
    LOW = 1


@tfrt.kernel("rare.chosen")
def chosen(mode: Mode, level: Level) -> object:
    return mode, level


def test_a_member_of_an_enumeration_keeps_its_class() -> None:
    @tfrt.program
    def typed(mode: Mode, level: Level) -> Any:
        return chosen(mode, level), chosen(Mode.FAST, Level.LOW)

    found = [tfrt.call(chosen, Mode.FAST, Level.LOW).result(SLOW)]
    found += typed(Mode.FAST, Level.LOW).result(SLOW)  # type: ignore[arg-type]
    assert [[type(one) for one in pair] for pair in found] == [[Mode, Level]] * 3  # type: ignore[attr-defined]


def test_attributes_with_the_same_repr_are_different() -> None:
    class Rounded(float):
        def __repr__(self) -> str:
            return f"{float(self):.1f}"

    @tfrt.kernel
    def scale(x: float, *, by: float) -> float:
        return x * by

    found = [tfrt.call(scale, 100.0, by=Rounded(by)).result(SLOW) for by in (1.01, 1.04)]
    assert found == [101.0, 104.0]


@pytest.mark.parametrize("value", [np.complex128(3 + 4j), np.str_("3.5"), np.bytes_(b"3.5")])
def test_what_is_no_real_number_is_refused_as_one(value: object) -> None:
    @tfrt.program
    def same(x: tfrt.f64) -> Any:
        return x

    with pytest.raises(tfrt.TfrtError, match="expected f64, found"):
        same(value)


def test_a_loop_may_carry_what_a_kernel_without_annotations_returns() -> None:
    @tfrt.kernel
    def step(a):  # type: ignore[no-untyped-def]
        return a + 1

    @tfrt.program
    def steps(n: tfrt.i32) -> Any:
        return tfrt.repeat(n, step, 1)

    assert steps(3).result(SLOW) == 4


def test_numpys_numbers_are_compared_with_traced_values() -> None:
    @tfrt.program
    def compared(x: tfrt.i32) -> Any:
        return np.int64(1) < x, np.int32(2) == x

    assert tuple(value.result(SLOW) for value in compared(2)) == (True, True)


@dataclasses.dataclass(frozen=True)
class Http(Exception):
    code: int


def test_retries_keep_an_exception_that_is_frozen() -> None:
    @tfrt.kernel(retries=1)
    def fails(code: int) -> int:
        raise Http(code)

    with pytest.raises(tfrt.TfrtError, match="Http: 404") as caught:
        tfrt.call(fails, 404).result(SLOW)
    assert any("attempt 1 of 2: Http: 404" in one for one in caught.value.__notes__)


def test_a_delay_without_end_is_a_delay() -> None:
    @tfrt.kernel(retries=1, blocking=True, delay=lambda problem: math.inf)
    def fails(x: int) -> int:
        raise ValueError(x)

    @tfrt.program
    def tried(x: tfrt.i64) -> Any:
        return fails(x)

    run = tried.run(1)
    assert not run.wait(0.2)
    run.cancel()


def test_a_map_without_results_counts_only_calls_that_succeeded() -> None:
    @tfrt.kernel
    async def nap(x: int) -> int:
        await asyncio.sleep(SLOW)
        return x

    @tfrt.program
    def naps(x: tfrt.i64) -> None:
        nap(x)

    batch = naps.map([0, 1, 2])
    time.sleep(0.05)
    batch.cancel("enough")
    assert batch.wait(SLOW)
    assert [batch._outcome(call) for call in range(3)] == [0, 0, 0]


def test_a_kernel_that_takes_only_a_chain_is_called_without_columns() -> None:
    with pytest.raises(tfrt.TfrtError):
        tfrt.call_each("tfrt_test.cancel").result(SLOW)


@tfrt.kernel("rare.slow")
async def slow(number: int) -> int:
    await asyncio.sleep(1)
    return number


@tfrt.program
def started(number: tfrt.i64) -> tfrt.i64:
    return slow(number)


@tfrt.program
def one_more(number: tfrt.i64) -> tfrt.i64:
    return number + 1


def test_a_thread_waits_for_the_last_of_many_runs_that_wait_for_each_other() -> None:
    many = 2 * sys.getrecursionlimit()
    with tfrt.HostContext("mstd:2") as host:
        value: Any = started(0, host=host).results[0]
        for _ in range(many):
            value = one_more(value, host=host).results[0]
        assert value.result(SLOW) == many


def test_many_kernels_may_await_each_other() -> None:
    values: list[Any] = []

    @tfrt.kernel("rare.after")
    async def after(place: int) -> int:
        return int(await values[place]) + 1

    each: Any = tfrt.program(lambda place: after(place))
    with tfrt.HostContext("mstd:2") as host:
        values.append(started(0, host=host).results[0])
        for place in range(2000):  # if each looked every 0.05 s, they would do nothing else
            values.append(each(place, host=host).results[0])
        assert values.pop().result(SLOW) == 2000
        values.clear()
