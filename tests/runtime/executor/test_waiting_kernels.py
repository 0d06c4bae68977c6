"""Test that waiting or sleeping kernels delay neither other kernels nor a cancelled run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.host.waiting import rest_of
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels

Run = Callable[..., Execution]
SLOW = 60
HALF_AN_HOUR = 1800 * 10**6
"""In microseconds, almost the maximum of an i32."""


def with_kernel(function: Callable[..., object], **options: object) -> KernelRegistry:
    """Return the runtime's kernels, and `my.test`."""
    registry = standard_kernels()
    registry.kernel("my.test", results=("i32",), **options)(function)  # type: ignore[arg-type]
    return registry


TEST = """func @main() -> i32 {
  %r = "my.test"() : () -> i32
  tfrt.return %r : i32
}
"""


def test_a_kernel_that_waits_reaches_what_its_thread_has_taken_already(leak_check: None) -> None:
    with HostContext("s") as host:
        late = make_unavailable(host.work_queue, "i32")
        waits = Program.from_source(TEST, "waits.mlir")
        resolves = Program.from_source(TEST, "resolves.mlir")

        def resolve() -> int:
            late.emplace(42)
            return 1

        # The waiting thread takes both calls from the queue before it starts the first.
        first = waits.run(host, kernels=with_kernel(lambda: late.result(SLOW)))
        second = resolves.run(host, kernels=with_kernel(resolve))
        found = [run.results[0].result(SLOW) for run in (first, second)]
        assert first.wait(SLOW)
        assert second.wait(SLOW)

    assert found == [42, 1]


SLEEP = """func @main(%us: i32) -> !tfrt.chain {
  %c = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}
"""


def sleeps(execution: Execution) -> bool:
    """Return whether a thread of the blocking pool has taken the task."""
    return execution.request.queue._pool.head == 1


def test_a_run_that_is_cancelled_does_not_sleep_on(run: Run) -> None:
    execution = run(SLEEP, HALF_AN_HOUR)
    while not sleeps(execution):
        execution.wait(0.01)
    execution.cancel("enough")

    assert execution.wait(SLOW)
    problem = execution.results[0].exception()
    assert problem is not None
    assert problem.diagnostics[0].message == "enough"
    assert execution.output == ""


def test_a_host_that_is_closed_does_not_sleep_on(leak_check: None) -> None:
    host = HostContext("mstd:1")
    execution = Program.from_source(SLEEP, "test.mlir").run(host, arguments=(HALF_AN_HOUR,))
    while not sleeps(execution):
        execution.wait(0.01)
    host.close()

    assert execution.is_done


def test_a_sleep_that_a_file_gives_a_function_to_is_refused(host: HostContext) -> None:
    """The code that prints the end of a sleep relies on this."""
    file = Program.from_source(SLEEP, "test.mlir").file
    [main] = file.functions
    [sleep] = main.kernels
    changed = replace(main, kernels=(sleep._replace(functions=(0,)),))
    data = write_bef(replace(file, functions=(changed,)))

    with pytest.raises(TfrtError, match="takes no functions, found 1"):
        Program.from_bef(data, "test.bef").run(host, arguments=(1,))


OUTER = """func @main() -> i32 {
  %r = "my.outer"() : () -> i32
  tfrt.return %r : i32
}
"""


def run_outer(threads: int, runs: int) -> list[str | int]:
    """Return the outcome of each of several runs whose blocking kernel waits for another run."""
    began = threading.Barrier(runs)
    with HostContext(f"mstd:2,{threads}") as host:
        kernels = with_kernel(lambda: 42, blocking=True)
        inner, outer = (Program.from_source(text, "test.mlir") for text in (TEST, OUTER))

        def wait_for_inner() -> object:
            began.wait(SLOW)
            return inner.run(host, kernels=kernels).results[0].result()

        kernels.kernel("my.outer", results=("i32",), blocking=True)(wait_for_inner)
        executions = [outer.run(host, kernels=kernels) for _ in range(runs)]
        assert all(execution.wait(SLOW) for execution in executions)
        problems = [d.message for run in executions for d in run.diagnostics]
        values = [run.results[0].result() for run in executions if not run.diagnostics]
        return [*problems, *values]


@pytest.mark.parametrize(
    ("threads", "runs", "pool", "larger"),
    [(1, 1, "1 thread, which is waiting", 2), (2, 2, "2 threads, which are all waiting", 4)],
)
def test_blocking_kernels_that_wait_for_others_without_a_thread_are_told_of_the_pool(
    threads: int, runs: int, pool: str, larger: int, leak_check: None
) -> None:
    text = (
        "kernel 'my.outer' waits for the result of @main, which never comes: 'my.test' cannot "
        "start,"
        f" because the blocking pool has {pool}; give the host a larger pool (work queue "
        f"'mstd:2,{larger}'),"
        " or return the AsyncValue instead of waiting for it"
    )
    # The last one to wait ends, because its thread runs the kernels of the others.
    assert run_outer(threads, runs) == [text, *[42] * (runs - 1)]
    assert run_outer(larger, runs) == [42] * runs


QUIESCE = """func @main() -> (i32, i32) {
  %us = tfrt.constant.i32 20000
  %ch = tfrt.new.chain
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %added = "tfrt_test.atomic.inc.i32"(%counter, %slept)
    : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %q = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %r = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %x, %c = "tfrt_test.atomic.get.i32"(%counter, %q)
    : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %y, %d = "tfrt_test.atomic.get.i32"(%counter, %r)
    : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %x, %y : i32, i32
}
"""


@pytest.mark.parametrize("queue", ["s", "mstd:1", "mstd:2", "mstd:4"])
def test_quiesce_waits_for_all_else_and_two_of_them_not_for_each_other(
    queue: str, leak_check: None
) -> None:
    with HostContext(queue) as host:
        execution = Program.from_source(QUIESCE, "test.mlir").run(host, output=lambda _: None)
        assert execution.wait(SLOW)
        found = [value.result() for value in execution.results]

    assert found == [1, 1]


@pytest.mark.parametrize("queue", ["s", "mstd:1", "mstd:2"])
def test_what_a_thread_runs_while_it_quiesces_is_work_to_another_that_does(
    queue: str, leak_check: None
) -> None:
    text = """func @main() -> (i32, !tfrt.chain, !tfrt.chain) {
      %ch = tfrt.new.chain
      %two = "my.two_quiesce"() : () -> i32
      %r = tfrt_test.do.async %two : (i32) -> (i32) {
        %r = "my.test"(%two) : (i32) -> i32
        tfrt.return %r : i32
      }
      %q = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
      %s = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
      tfrt.return %r, %q, %s : i32, !tfrt.chain, !tfrt.chain
    }
    """
    with HostContext(queue) as host:
        waiting = host.work_queue.quiescing

        def two_quiesce() -> int:
            deadline = time.monotonic() + SLOW
            while len(waiting) < 2 and time.monotonic() < deadline:
                time.sleep(0.001)
            return len(waiting)

        kernels = with_kernel(lambda _: int(rest_of(host.work_queue, tuple(waiting)) is not None))
        kernels.kernel("my.two_quiesce", results=("i32",), blocking=True)(two_quiesce)
        execution = Program.from_source(text, "test.mlir").run(host, kernels=kernels)
        assert execution.wait(SLOW)
        found = execution.results[0].result()

    assert found == 0


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_kernel_that_waits_and_what_quiesces_on_top_of_it_both_end(
    queue: str, leak_check: None
) -> None:
    text = """func @main() -> (i32, !tfrt.chain, i32) {
      %ch = tfrt.new.chain
      %resolved = "my.resolves"() : () -> i32
      %q = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
      %r = "my.test"() : () -> i32
      tfrt.return %r, %q, %resolved : i32, !tfrt.chain, i32
    }
    """
    with HostContext(queue) as host:
        late = make_unavailable(host.work_queue, "i32")

        def resolve() -> int:
            late.emplace(42)
            return 1

        kernels = with_kernel(lambda: late.result(SLOW))
        kernels.kernel("my.resolves", results=("i32",))(resolve)
        execution = Program.from_source(text, "test.mlir").run(host, kernels=kernels)
        assert execution.wait(SLOW)
        found = execution.results[0].result()

    assert found == 42


def test_quiesce_ends_when_its_run_is_cancelled(leak_check: None) -> None:
    is_running, may_end = threading.Event(), threading.Event()

    def block(frame: KernelFrame) -> int:
        is_running.set()
        may_end.wait(SLOW)
        return 1

    text = """func @main() -> (i32, !tfrt.chain) {
      %ch = tfrt.new.chain
      %r = "my.test"() : () -> i32
      %q = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
      tfrt.return %r, %q : i32, !tfrt.chain
    }
    """
    with HostContext("mstd:2") as host:
        program = Program.from_source(text, "test.mlir")
        execution = program.run(host, kernels=with_kernel(block, frame=True, blocking=True))
        assert is_running.wait(SLOW)
        execution.cancel()
        execution.results[1].exception(SLOW)
        may_end.set()
        assert execution.wait(SLOW)
