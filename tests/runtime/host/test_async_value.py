"""Test AsyncValue: its state changes once, on any thread, and each waiter runs once."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.default_host import gather
from tfrt_runtime.host.payload import CHAIN, PayloadError
from tfrt_runtime.host.values.async_value import AsyncValue, make_available, make_unavailable
from tfrt_runtime.host.values.held_value import State

SLOW = 60
"""The number of seconds after which a waiting test has failed."""


class Calls(list[object]):
    """Records calls: `calls.of("a")` is a callback that appends "a"."""

    def of(self, name: object) -> Callable[[], None]:
        return lambda: self.append(name)


# --- one value ---


def test_a_value_becomes_available_once(host: HostContext) -> None:
    value = make_unavailable(host.work_queue, "i32")
    before = value.state, value.done(), repr(value)
    value.emplace(42)
    after = value.state, value.done(), repr(value), value.result()

    assert before == (State.UNAVAILABLE, False, "<AsyncValue i32 unavailable>")
    assert after == (State.AVAILABLE, True, "<AsyncValue i32 available 42>", 42)
    with pytest.raises(RuntimeError, match="can be resolved only once; this one is available"):
        value.emplace(43)
    with pytest.raises(RuntimeError, match="can be resolved only once; this one is available"):
        value.set_error(error("too late"))
    assert value.result() == 42


def test_a_value_is_no_number_and_no_truth_before_it_is_asked_for(host: HostContext) -> None:
    value: Any = make_available(host.work_queue, 3, "i32")

    for use in (
        lambda: value + 1,
        lambda: 1 - value,
        lambda: value * value,
        lambda: -value,
        lambda: value < 4,
        lambda: np.array([1.0]) / value,
    ):
        with pytest.raises(TypeError, match=r"\.result\(\) waits for the number, \.then\("):
            use()
    with pytest.raises(TypeError, match=r"\.done\(\) says whether .* \.result\(\) gives"):
        bool(value)
    assert value != 3


def test_an_await_without_asyncio_says_what_to_write(host: HostContext) -> None:
    waiting = make_unavailable(host.work_queue).__await__()

    with pytest.raises(RuntimeError, match=r"with trio, write `await trio.to_thread.run_sync"):
        next(waiting)


def test_an_error_may_be_a_message_and_nothing_else(host: HostContext) -> None:
    value = make_unavailable(host.work_queue, "i32")
    with pytest.raises(TypeError, match="a Diagnostic or a message, found ValueError"):
        value.set_error(ValueError("bad"))  # type: ignore[arg-type]
    value.set_error("bad")

    assert repr(value) == "<AsyncValue i32 error 'bad'>"


def test_an_error_is_raised_by_whoever_reads_it(host: HostContext) -> None:
    diagnostic = error("Shape mismatch")
    value = make_unavailable(host.work_queue, "i32")
    value.set_error(diagnostic)

    assert value.state is State.ERROR
    with pytest.raises(TfrtError) as raised:
        value.result()
    assert raised.value.diagnostics == (diagnostic,)
    problem = value.exception()
    assert problem is not None
    assert problem.diagnostics == (diagnostic,)
    with pytest.raises(RuntimeError, match="can be resolved only once; this one is error"):
        value.emplace(1)


@pytest.mark.parametrize(
    ("type_text", "value"),
    [
        ("i1", True),
        ("i8", -128),
        ("i16", -32768),
        ("i32", -(2**31)),
        ("i64", 2**63 - 1),
        ("ui8", 255),
        ("ui32", 2**32 - 1),
        ("ui64", 2**64 - 1),
        ("f32", 0.5),
        ("f64", 0.1),
        ("complex64", 0.5 - 2j),
        ("complex128", 0.1 + 1j),
        ("!tfrt.string", "text"),
        ("", {"any": "object"}),
        ("!tfrt.chain", CHAIN),
    ],
)
def test_what_is_put_in_comes_out(host: HostContext, type_text: str, value: object) -> None:
    assert make_available(host.work_queue, value, type_text).result() == value


@pytest.mark.parametrize(
    ("type_text", "value", "message"),
    [
        ("i32", 2**31, "2147483648 does not fit in i32"),
        ("ui8", -1, "-1 does not fit in ui8"),
        ("i64", "1", "expected i64, found str"),
        ("f32", "1", "expected f32, found str"),
        ("complex64", None, "expected complex64, found NoneType"),
    ],
)
def test_a_number_that_does_not_fit_is_refused_and_changes_nothing(
    host: HostContext, type_text: str, value: object, message: str
) -> None:
    made = make_unavailable(host.work_queue, type_text)
    with pytest.raises(PayloadError, match=message):
        made.emplace(value)

    assert made.state is State.UNAVAILABLE
    made.emplace(0)
    assert made.result() == 0


def test_the_payload_dies_with_the_last_reference(host: HostContext) -> None:
    class Payload:
        deaths = 0

        def __del__(self) -> None:
            Payload.deaths += 1

    value = make_available(host.work_queue, Payload())
    alive = Payload.deaths
    del value

    assert (alive, Payload.deaths) == (0, 1)


def test_an_indirect_value_cannot_be_emplaced(host: HostContext) -> None:
    """An indirect value is resolved from elsewhere, so this would be a second writer."""
    indirect = indirect_value(host)

    with pytest.raises(RuntimeError, match="gets its value from another one"):
        indirect.emplace(1)
    with pytest.raises(RuntimeError, match="gets its value from another one"):
        indirect.set_error(error("no"))
    assert indirect.state is State.UNAVAILABLE


def indirect_value(host: HostContext) -> AsyncValue:
    queue = host.work_queue
    make = queue.process.quick.value_make_indirect
    return AsyncValue(queue, make(queue.context()), "i32")


# --- waiters ---


def test_a_waiter_may_resolve_another_value(host: HostContext) -> None:
    queue = host.work_queue
    left, right, total = (make_unavailable(queue, "i32") for _ in range(3))
    left.and_then(lambda: right.and_then(lambda: total.emplace(add(left, right))))
    right.emplace(2)
    states = [total.state]
    left.emplace(1)
    states.append(total.state)

    assert states == [State.UNAVAILABLE, State.AVAILABLE]
    assert total.result() == 3


def add(left: AsyncValue, right: AsyncValue) -> int:
    first, second = left.result(0), right.result(0)
    assert isinstance(first, int)
    assert isinstance(second, int)
    return first + second


def test_a_waiter_that_raises_is_shown_and_stops_nobody(
    host: HostContext, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = Calls()
    value = make_unavailable(host.work_queue, "i32")
    value.and_then(calls.of("first"))
    value.and_then(lambda: calls.append(1 // 0))
    value.and_then(calls.of("last"))
    value.emplace(1)

    assert calls == ["first", "last"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_waiter_may_drop_the_last_reference_to_its_value(host: HostContext) -> None:
    values = [make_unavailable(host.work_queue, "i32")]
    values[0].and_then(values.clear)
    values[0].emplace(1)

    assert values == []


# --- waiting ---


def test_result_gives_up_when_the_time_is_over(host: HostContext) -> None:
    value = make_unavailable(host.work_queue, "i32")

    with pytest.raises(TimeoutError, match="still unavailable after 0.01 s"):
        value.result(0.01)
    with pytest.raises(TimeoutError):
        value.exception(0)
    value.emplace(1)
    assert value.result(0) == 1


def test_many_threads_wait_for_one_value(host: HostContext) -> None:
    value = make_unavailable(host.work_queue, "i32")
    results: list[object] = []
    threads = [
        threading.Thread(target=lambda: results.append(value.result(SLOW))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    value.emplace(5)
    for thread in threads:
        thread.join()

    assert results == [5] * 8


def test_of_many_threads_that_emplace_one_succeeds(host: HostContext) -> None:
    for _ in range(50):
        value, start = make_unavailable(host.work_queue, "i32"), threading.Barrier(4)
        refused: list[int] = []

        def emplace(
            number: int,
            value: AsyncValue = value,
            start: threading.Barrier = start,
            refused: list[int] = refused,
        ) -> None:
            start.wait()
            try:
                value.emplace(number)
            except RuntimeError:
                refused.append(number)

        threads = [threading.Thread(target=emplace, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted([value.result(0), *refused]) == [0, 1, 2, 3]


def test_callbacks_may_be_left_while_the_value_comes(host: HostContext) -> None:
    """Each callback runs once, whether it was registered before or after the value came."""
    for _ in range(50):
        value, calls, start = make_unavailable(host.work_queue), Calls(), threading.Barrier(3)

        def leave(
            value: AsyncValue = value, calls: Calls = calls, start: threading.Barrier = start
        ) -> None:
            start.wait()
            for number in range(20):
                value.and_then(calls.of(number))

        threads = [threading.Thread(target=leave) for _ in range(2)]
        for thread in threads:
            thread.start()
        start.wait()
        value.emplace(None)
        for thread in threads:
            thread.join()
        assert sorted(calls, key=str) == sorted([*range(20)] * 2, key=str)


# --- chains ---


DEEP = 100_000
MANY = 300_000


def test_a_long_chain_of_callbacks_takes_no_stack(host: HostContext) -> None:
    values = [make_unavailable(host.work_queue) for _ in range(DEEP)]
    for before, after in itertools.pairwise(values):
        before.and_then(lambda after=after: after.emplace(CHAIN))
    values[0].emplace(CHAIN)

    assert all(value.done() for value in values)


def test_a_hundred_thousand_may_wait_for_one_value(host: HostContext) -> None:
    value, calls = make_unavailable(host.work_queue), Calls()
    for number in range(DEEP):
        value.and_then(calls.of(number))
    value.emplace(CHAIN)

    assert calls == [*range(DEEP)]


def test_a_long_chain_of_forwards_takes_no_stack(host: HostContext) -> None:
    """Each value forwards to the next one; the last one resolves them all."""
    queue, process = host.work_queue, host.work_queue.process
    context = queue.context()
    make = process.quick.value_make_indirect
    forward = process.quick.value_forward
    last = make_unavailable(queue, "i32")
    process.quick.value_add_reference(last.address)
    target = last.address
    for _ in range(MANY):
        indirect = make(context)
        process.quick.value_add_reference(indirect)
        forward(context, indirect, target)
        process.quick.value_drop(context, indirect)
        target = indirect
    first = AsyncValue(queue, target, "i32")
    last.emplace(9)

    assert (first.is_indirect, first.result(0)) == (True, 9)


# --- promises ---


def test_a_value_that_nobody_can_resolve_any_more_is_an_error(host: HostContext) -> None:
    indirect, promise = indirect_value(host), make_unavailable(host.work_queue, "i32")
    process = host.work_queue.process
    process.quick.value_add_reference(promise.address)
    forward = process.slow.value_forward
    forward(host.work_queue.context(), indirect.address, promise.address)
    before = indirect.state
    del promise

    assert before is State.UNAVAILABLE
    assert str(indirect.exception(0)) == ("error: nothing can resolve this value anymore")


@pytest.mark.parametrize("way", ["and_then", "add_done_callback", "then", "gather"])
def test_what_waits_for_a_promise_alone_hears_that_it_was_dropped(
    way: str, host: HostContext, leak_check: None
) -> None:
    heard: list[str] = []
    broken = "error: nothing can resolve this value anymore"
    promise = make_unavailable(host.work_queue, "i32")
    if way == "and_then":
        promise.and_then(lambda: heard.append(broken))
    elif way == "add_done_callback":
        promise.add_done_callback(lambda value: heard.append(str(value.exception(0))))
    else:
        made = promise.then(lambda x: x) if way == "then" else gather(promise, 3)
        made.add_done_callback(lambda value: heard.append(str(value.exception(0))))
        del made
    del promise

    assert heard == [broken]


def test_a_promise_that_was_kept_dies_quietly(host: HostContext) -> None:
    made = make_available(host.work_queue, 5, "i32")
    made.result()
    unused = make_unavailable(host.work_queue, "i32")
    del unused
