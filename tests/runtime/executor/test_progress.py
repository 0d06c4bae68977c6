"""Test the progress of a run: how many kernels are decided, and how many are known."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60

LOOP = """
func.func @main(%n: i32, %x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  %r = tfrt.repeat.i32 %n, %y : i32 {
    %a = tfrt.add.i32 %y, %y
    %b = tfrt.add.i32 %a, %y
    tfrt.return %b : i32
  }
  tfrt.return %r : i32
}
"""
STEPS = """
func.func @main(%x: i32) -> i32 {
  %a = "test.step"(%x) : (i32) -> i32
  %b = "test.step"(%a) : (i32) -> i32
  %c = tfrt.add.i32 %b, %a
  tfrt.return %c : i32
}
"""


def kernels(function: Callable[..., object]) -> KernelRegistry:
    registry = standard_kernels()
    registry.add(user_kernel("test.step", function, blocking=True))
    return registry


def test_a_loop_adds_its_kernels_round_by_round(host: HostContext) -> None:
    rounds = later_on(host)
    execution = Program(LOOP).run(rounds, 1, host=host)
    known = execution.progress[1]
    rounds.emplace(3)

    assert (known, execution.result(SLOW), execution.wait(SLOW)) == (2, 54, True)
    assert execution.progress == (2 + 3 * 2, 2 + 3 * 2)


def later_on(host: HostContext) -> AsyncValue:
    """Return an i32 that the test resolves."""
    return make_unavailable(host.work_queue, "i32")


def test_kernels_that_may_take_long_count_one_by_one() -> None:
    arrived, gates = threading.Semaphore(0), [threading.Event(), threading.Event()]
    left = list(gates)

    def step(x: int) -> int:
        gate = left.pop(0)
        arrived.release()
        gate.wait(SLOW)
        return x + 1

    seen = []
    with HostContext("mstd:2") as host:
        execution = Program(STEPS).run(3, host=host, kernels=kernels(step))
        for gate in gates:
            assert arrived.acquire(timeout=SLOW)
            seen.append(execution.progress)
            gate.set()
        assert execution.result(SLOW) == 9
        assert execution.wait(SLOW)
        seen.append(execution.progress)

    assert seen == [(0, 3), (1, 3), (3, 3)]


def test_skipped_kernels_are_decided(host: HostContext) -> None:
    def fail(x: int) -> int:
        raise ValueError(x)

    execution = Program(STEPS).run(3, host=host, kernels=kernels(fail))

    assert execution.wait(SLOW)
    assert execution.progress == (3, 3)


def test_the_last_call_of_the_callback_says_that_all_is_decided(host: HostContext) -> None:
    said, over = [], threading.Event()
    threads = set()

    def on_progress(done: int, total: int) -> None:
        said.append((done, total))
        threads.add(threading.current_thread().name)
        if done == total:
            over.set()
            raise RuntimeError("shown, and ends nothing")

    rounds = later_on(host)
    execution = Program(LOOP).run(rounds, 1, host=host)
    execution.on_progress(on_progress)
    rounds.emplace(2)

    assert execution.wait(SLOW)
    assert over.wait(SLOW)
    assert (said[-1], sorted(said), threads) == ((6, 6), said, {"timers"})


def test_a_run_that_its_host_has_ended_says_so_once_more() -> None:
    said: list[tuple[int, int]] = []
    with HostContext("s") as host:
        later = later_on(host)
        execution = Program(LOOP).run(later, 1, host=host)
        execution.on_progress(lambda done, total: said.append((done, total)))
        host.cancel()
        later.emplace(1)

    assert execution.wait(SLOW)
    assert said[-1] == execution.progress
