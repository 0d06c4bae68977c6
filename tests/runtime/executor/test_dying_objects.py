"""Objects that another thread gets from a weak reference while their last reference goes."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import make_error, make_unavailable
from tfrt_runtime.host.values.promises import Promises

TEXT = """
func.func @main() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  tfrt.return %a, %a : i32, i32
}
"""
DEATHS = 20_000
SWITCH_SECONDS = 1e-6
"""CPython lets another thread go on after so long: inside `__del__`, too."""


@pytest.fixture(autouse=True)
def threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    yield
    sys.setswitchinterval(before)


@contextlib.contextmanager
def again_and_again(function: Callable[[], None]) -> Iterator[None]:
    """Within, two threads call `function` all the time."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            function()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def test_a_promise_is_dropped_while_its_run_is_cancelled(host: HostContext) -> None:
    promises, heard = Promises(), []
    with again_and_again(lambda: promises.decide(error("cancelled"))):
        for _ in range(DEATHS):
            promise = make_unavailable(host.work_queue, "i32")
            promises.own(promise)
            promise.and_then(lambda: heard.append(1))
            del promise

    assert len(heard) == DEATHS


def test_a_run_is_dropped_while_its_results_are_decided(host: HostContext) -> None:
    program, failure = Program(TEXT), make_error(host.work_queue, error("cancelled"))
    last: list[Callable[[], Execution | None]] = [lambda: None]

    def decide() -> None:
        execution = last[0]()
        for value in execution.results if execution is not None else ():
            value.decide(failure)

    with again_and_again(decide):
        for _ in range(DEATHS):
            execution = program.run(host=host)
            last[0] = weakref.ref(execution)
            del execution

    last[0] = lambda: None
    assert host.quiesce(60)
