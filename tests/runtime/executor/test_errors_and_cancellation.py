"""Test that errors skip only dependent work, and cancelled runs skip what has not started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60

ENDLESS = """
func @body(%x: i32) -> (i32, i1) {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  %yes = tfrt.constant.i1 true
  tfrt.return %y, %yes : i32, i1
}
func @main() -> i32 {
  %x = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @body(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""


def message_of(value: AsyncValue) -> str:
    problem = value.exception(SLOW)
    assert problem is not None
    return problem.diagnostics[0].message


# --- cancellation ---


def test_a_run_can_be_cancelled_from_outside(run: Run) -> None:
    execution = run(ENDLESS)
    first, second = execution.cancel("enough"), execution.cancel("again")

    assert (first, second) == (True, False)
    assert message_of(execution.results[0]) == "enough"
    assert execution.wait(SLOW)
    assert execution.cancel() is False


def test_of_two_runs_one_is_cancelled_and_the_other_goes_on(host: HostContext) -> None:
    program = Program.from_source(ENDLESS, "test.mlir")
    first, second = program.run(host), program.run(host)
    first.cancel("only this one")

    assert message_of(first.results[0]) == "only this one"
    assert not second.wait(0.05)
    second.cancel("and now this one")
    assert message_of(second.results[0]) == "and now this one"


def test_what_started_before_a_cancellation_keeps_its_result(run: Run) -> None:
    text = """
func @main() -> (i32, i32, !tfrt.chain) {
  %c = tfrt.new.chain
  %zero, %c1 = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %one = tfrt.add.i32 %zero, %zero
  tfrt.return %zero, %one, %c1 : i32, i32, !tfrt.chain
}"""
    zero, later, chain = run(text).results

    assert zero.result(SLOW) == 0
    assert message_of(later) == "Cancelled"
    assert chain.exception(SLOW) is None


def test_waiting_gives_up_when_the_time_is_over(run: Run) -> None:
    execution = run(ENDLESS)
    start = time.monotonic()
    waited = execution.wait_for_results(0.05), execution.wait(0.05)
    seconds = time.monotonic() - start
    execution.cancel()

    assert waited == (False, False)
    assert 0.1 <= seconds < SLOW


def test_a_wait_ends_when_it_is_asked_to(run: Run) -> None:
    execution = run(ENDLESS)
    asked: list[bool] = []
    waited = execution.wait(SLOW, interrupted=lambda: bool(asked.append(True)) or len(asked) > 2)
    execution.cancel()

    # The loop's machine code may have asked; then the waiting thread asks once more.
    assert not waited and len(asked) in (3, 4)


def test_closing_a_host_cancels_what_runs() -> None:
    for queue in ("s", "mstd:2"):
        with HostContext(queue) as host:
            execution = Program.from_source(ENDLESS, "test.mlir").run(host)
        assert message_of(execution.results[0]) == "the host is closed"
        del execution, host


@pytest.mark.parametrize("has_user_kernels", [False, True])
def test_closing_a_host_does_not_wait_long_for_a_value_that_nobody_brings(
    monkeypatch: pytest.MonkeyPatch, has_user_kernels: bool
) -> None:
    """The value comes from outside: the result is decided at once, but the run waits for it."""
    monkeypatch.setattr(HOOKS, "has_user_kernels", has_user_kernels)
    text = "func @main(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}"
    start = time.monotonic()
    with HostContext("mstd:2") as host:
        value = make_unavailable(host.work_queue, "i32")
        execution = Program.from_source(text, "test.mlir").run(host, "main", (value,))
    seconds = time.monotonic() - start
    states = [execution.results[0].state]
    value.emplace(1)
    message = message_of(execution.results[0])

    assert execution.wait(SLOW)
    assert seconds < SLOW
    assert states == [State.ERROR]
    assert message == "the host is closed"


def test_a_cancelled_parallel_loop_begins_no_more_blocks(run: Run) -> None:
    execution = run("""func @main() -> !tfrt.chain {
      %start = tfrt.constant.i32 0
      %end = tfrt.constant.i32 2000000000
      %one = tfrt.constant.i32 1
      %all = tfrt.parallel_for.i32 %start to %end fixed %one {
        tfrt.return
      }
      tfrt.return %all : !tfrt.chain
    }
    """)
    execution.wait(0.05)
    execution.cancel("enough")

    assert execution.wait(SLOW)
    assert message_of(execution.results[0]) == "enough"


# --- the blocking pool ---


@pytest.mark.parametrize("queue", ["s", "mstd:2", "mstd:1,1", "mstd:2,3"])
def test_blocking_work_is_done_by_as_many_threads_as_there_may_be(
    queue: str, leak_check: None
) -> None:
    text = "\n".join(
        [
            "func @main() -> !tfrt.chain {",
            "  %n = tfrt.constant.i32 100",
            *(
                f'  %c{i} = "tfrt_test.blocking.usleep"(%n) : (i32) -> !tfrt.chain'
                for i in range(100)
            ),
            (
                f"  %c = tfrt.merge.chains {', '.join(f'%c{i}' for i in range(100))}"
                f" : {', '.join(['!tfrt.chain'] * 100)}"
            ),
            "  tfrt.return %c : !tfrt.chain",
            "}",
        ]
    )
    with HostContext(queue) as host:
        execution = Program.from_source(text, "test.mlir").run(host, output=lambda _: None)
        assert execution.wait(SLOW)
        threads = len(host.work_queue._pool_threads)
        limit = host.work_queue.blocking_threads

    assert execution.output == "Slept for 100 microseconds\n" * 100
    assert execution.results[0].exception() is None
    assert 1 <= threads <= min(limit, 100)


def test_compute_work_goes_on_while_the_pool_is_blocked(leak_check: None) -> None:
    release = threading.Event()

    def wait() -> int:
        assert release.wait(SLOW)
        return 1

    registry = standard_kernels()
    registry.add(user_kernel("my.wait", wait, blocking=True))
    text = """
func @main(%x: i32) -> (i32, i32) {
  %late = "my.wait"() : () -> i32
  %y = tfrt.add.i32 %x, %x
  %both = tfrt.add.i32 %late, %y
  tfrt.return %both, %y : i32, i32
}"""
    for queue in ("s", "mstd:1,1"):
        with HostContext(queue) as host:
            program = Program.from_source(text, "test.mlir")
            execution = program.run(host, "main", (3,), kernels=registry)
            both, early = execution.results
            seen = early.result(SLOW), both.state
            release.set()

            assert (seen, both.result(SLOW)) == ((6, State.UNAVAILABLE), 7)
            assert execution.wait(SLOW)
        release.clear()
        del execution, both, early, program


def test_a_full_pool_refuses_work_with_a_diagnostic(leak_check: None) -> None:
    """4,096 tasks may wait for a thread; further tasks become errors, and the run continues."""
    more = 10
    count = 1 + 4096 + more
    release, started = threading.Event(), threading.Event()

    def wait() -> int:
        started.set()
        assert release.wait(SLOW)
        return 1

    registry = standard_kernels()
    registry.add(user_kernel("my.wait", wait, blocking=True))
    lines = [
        "func @first() -> i32 {",
        '  %x = "my.wait"() : () -> i32',
        "  tfrt.return %x : i32",
        "}",
        "func @main() {",
        *('  "my.wait"() : () -> i32' for _ in range(count - 1)),
        "  tfrt.return",
        "}",
    ]
    with HostContext("mstd:1,1") as host:
        program = Program.from_source("\n".join(lines), "test.mlir")
        first = program.run(host, "first", kernels=registry)
        assert started.wait(SLOW)
        main = program.run(host, "main", kernels=registry)
        waited = main.wait(0.5)
        release.set()
        assert main.wait(SLOW)
        assert first.wait(SLOW)

    assert waited is False
    assert [raised.message for raised in main.diagnostics] == [
        "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."
    ] * more
