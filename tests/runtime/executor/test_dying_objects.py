"""Test objects that a thread gets while the last reference is dropped, and cycles through runs."""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import sys
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest

import tfrt_nb as tfrt
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
WAITING = """
func.func @main(%gate: !tfrt.object) -> i64 {
  %a = "dying.wait"(%gate) {released = true} : (!tfrt.object) -> i64
  tfrt.return %a : i64
}
"""
SLOW = 60
COUNT = 200
DEATHS = 20_000
SWITCH_SECONDS = 1e-6
"""The time after which CPython switches to another thread, even inside `__del__`."""


@pytest.fixture(autouse=True)
def threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    yield
    sys.setswitchinterval(before)


@contextlib.contextmanager
def again_and_again(function: Callable[[], None]) -> Iterator[None]:
    """Inside the block, two threads call `function` all the time."""
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


@tfrt.kernel("dying.wait")
def wait(gate: threading.Event, *, released: bool) -> int:
    """Wait until the gate opens."""
    return int(gate.wait(SLOW) and released)


def test_the_collector_does_not_search_outstanding_runs(host: HostContext) -> None:
    program, gate = Program.from_source(WAITING, "test.mlir"), threading.Event()
    runs = [program.run(host, "main", [gate])]
    gc.collect()
    before = len(gc.get_objects())
    runs += [program.run(host, "main", [gate]) for _ in range(COUNT)]
    values = [run.results[0] for run in runs]
    # The Execution, its list of results and, in Python 3.13, a dictionary of attributes.
    assert len(gc.get_objects()) - before < 3.5 * COUNT
    assert not any(gc.is_tracked(one) for one in (values[0], values[0].source, runs[0].request))
    gate.set()
    assert [value.result(SLOW) for value in values] == [1] * len(runs)


@pytest.mark.parametrize("hears", [False, True])
def test_the_collector_finds_what_refers_to_itself_through_a_run(
    host: HostContext, hears: bool
) -> None:
    program, gate = Program.from_source(WAITING, "test.mlir"), threading.Event()
    run = program.run(host, "main", [gate])
    [value] = run.results
    refers = [run.request, value]
    run.request.data[list] = refers
    if hears:  # Python is called when the run is over
        run.request.on_done(gate.clear)
    value.and_then(functools.partial(list, refers))
    dead = weakref.ref(value), weakref.ref(run.request)
    gate.set()
    assert run.wait(SLOW)
    del run, value, refers
    gc.collect()
    assert [one() for one in dead] == [None, None]


def test_the_collector_finds_a_value_whose_callback_refers_to_it(host: HostContext) -> None:
    program, gate = Program.from_source(WAITING, "test.mlir"), threading.Event()
    [value] = program.run(host, "main", [gate]).results
    assert not gc.is_tracked(value)
    value.and_then(functools.partial(print, value, file=io.StringIO()))
    assert gc.is_tracked(value)
    gate.set()
    assert value.result(SLOW) == 1
