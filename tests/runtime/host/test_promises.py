"""Test what a run waits for outside the runtime."""

from __future__ import annotations

from collections.abc import Callable

from tfrt_runtime.diagnostics import error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.promises import MIN_SWEPT, Promises


class Value:
    """The parts of an AsyncValue that promises read."""

    source = None

    def __init__(self) -> None:
        self.is_done = False

    def done(self) -> bool:
        return self.is_done


def texts(promises: Promises) -> list[str]:
    return [note.message for note in promises.notes()]


def test_only_open_promises_are_kept() -> None:
    promises, kept = Promises(), Value()
    promises.watch(kept, "kept")
    for number in range(1000):
        value = Value()
        promises.watch(value, str(number))
        value.is_done = True

    assert len(promises._promises) <= MIN_SWEPT
    assert texts(promises) == ["kept"]


def test_a_value_whose_object_dies_meanwhile_is_no_promise(leak_check: None) -> None:
    """Another thread may ask after `__del__` runs, but before weak references are cleared."""
    promises = Promises()

    class Dying(AsyncValue):
        def __del__(self) -> None:
            super().__del__()
            seen.append(promises.are_open())

    seen: list[bool] = []
    with HostContext("s") as host:
        made = make_unavailable(host.work_queue, "i32")
        value = Dying(host.work_queue, made.address)
        native_process().quick.value_add_reference(made.address)
        promises.watch(value, "a value")
        seen.append(promises.are_open())
        del value
        made.set_error(error("over"))

    assert seen == [True, False]


def test_a_callback_that_comes_during_a_cancellation_finds_the_values_resolved(
    new_request: Callable[..., Request],
) -> None:
    """A coroutine whose task starts meanwhile drops its result when it is cancelled."""
    with HostContext("s") as host:
        request = new_request(host)
        first, second = [request.allocate("i32", lambda: error("dropped")) for _ in "ab"]
        seen: list[bool] = []

        def start() -> None:
            request.call_when_cancelled(start, lambda: seen.append(first.done() and second.done()))

        first.and_then(start)
        request.cancel("enough")
        assert seen == [True]
        third = request.allocate("i32", lambda: error("dropped"))
        assert third.exception(0) is not None
        request.call_when_cancelled(start, lambda: seen.append(False))
        assert seen == [True, False]
        request.leave()
