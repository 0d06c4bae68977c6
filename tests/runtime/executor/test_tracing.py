"""Test what a host with tracing reports about its runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.tracing.events import KINDS, logged
from tfrt_runtime.host.tracing.trace import Activity, DebugSink, Level, Tracing
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.users.user import USER_KERNELS, kernel

Run = Callable[..., Execution]
SLOW = 60

TEXT = """
func @double(%x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}
func @main() -> i32 {
  %two = tfrt.constant.i32 2
  %four = tfrt.call @double(%two) : (i32) -> i32
  %sixteen = tfrt.repeat.i32 %two, %four : i32 {
    %next = tfrt.add.i32 %four, %four
    tfrt.return %next : i32
  }
  tfrt.return %sixteen : i32
}
"""

MAIN = ["Scope:Bef Executor", "Scope:Function: main"]


def told(text: str, level: Level, queue: str = "s", value: int = 16) -> list[str]:
    lines: list[str] = []
    tracing = Tracing(DebugSink(lines.append), level)
    with HostContext(queue, tracing=tracing) as host, tracing.requested():
        execution = Program.from_source(text, "test.mlir").run(host, "main")
        assert execution.wait(SLOW)
        assert execution.results[0].result(0) == value
        del execution
    return [line.rstrip() for line in lines]


def test_runs_and_calls_are_told_of(leak_check: None) -> None:
    call = ["Scope:Function: double", "End Scope"]
    iterations = ["Scope:Function: region", "End Scope"] * 2

    assert told(TEXT, Level.DEFAULT) == [
        *MAIN,
        *call,
        *iterations,
        "End Scope",
        "End Scope",
    ]


def test_kernels_are_told_of_at_level_debug(leak_check: None) -> None:
    lines = told(TEXT, Level.DEBUG)

    assert lines[:2] == MAIN
    assert lines.count("End Scope") == sum(line.startswith("Scope:") for line in lines)
    assert [line for line in lines if line.startswith("Scope:tfrt")] == [
        "Scope:tfrt.call",
        "Scope:tfrt_test.async_add.i32",
        "Scope:tfrt.repeat.i32",
        "Scope:tfrt.add.i32",
        "Scope:tfrt.add.i32",
    ]


@pytest.mark.parametrize("queue", ["mstd:1", "mstd:2"])
def test_workers_tell_the_same_things(queue: str, leak_check: None) -> None:
    assert sorted(told(TEXT, Level.DEBUG, queue)) == sorted(told(TEXT, Level.DEBUG))


def test_a_run_that_starts_while_nothing_is_requested_is_not_told(host: HostContext) -> None:
    lines: list[str] = []
    tracing = Tracing(DebugSink(lines.append), Level.DEBUG)
    with HostContext("s", tracing=tracing) as traced:
        execution = Program.from_source(TEXT, "test.mlir").run(traced)
        assert execution.wait(SLOW)
    assert lines == []


def test_a_watched_run_is_told_and_logged(leak_check: None) -> None:
    lines: list[str] = []
    tracing = Tracing(DebugSink(lines.append), Level.DEFAULT)
    with HostContext("s", tracing=tracing) as host, tracing.requested():
        execution = Program.from_source(TEXT, "test.mlir").run(host, watch=True)
        assert execution.wait(SLOW)
        assert execution.watch is not None
        kinds = [KINDS[event[4]] for event in logged(execution.watch.take())]
    assert len(lines) // 2 == kinds.count("call") + 1 == kinds.count("return") + 1


class Times:
    """A sink that keeps activities."""

    def __init__(self) -> None:
        self.all: list[Activity] = []

    def begin(self, activity: Activity) -> None:
        self.all.append(activity)

    def end(self, activity: Activity) -> None:
        assert activity.end_ns is not None

    def event(self, activity: Activity) -> None:
        pass

    def close(self) -> None:
        pass


def test_activities_have_times_and_the_worker_on_which_they_began() -> None:
    sink = Times()
    tracing = Tracing(sink, Level.DEBUG)
    with HostContext("mstd:2", tracing=tracing) as host, tracing.requested():
        assert Program.from_source(TEXT, "test.mlir").run(host).wait(SLOW)
    run, *others = sink.all
    ends = [one.end_ns for one in others]
    assert all(
        end is not None and one.begin_ns <= end for one, end in zip(others, ends, strict=True)
    )
    assert {one.worker for one in others} <= {"main", "worker 1", "worker 2"}
    assert run.end_ns is not None
    assert run.end_ns >= max(end for end in ends if end is not None)


ERRORS = """
func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %bad, %worse = tfrt.div.i32 %zero, %zero
  %skipped = tfrt.add.i32 %bad, %zero
  tfrt.return %zero : i32
}
"""


def test_a_kernel_that_fails_is_told_of_and_one_that_is_skipped_is_not() -> None:
    lines = told(ERRORS, Level.DEBUG, value=0)

    assert [line for line in lines if line.startswith("Scope:tfrt")] == ["Scope:tfrt.div.i32"]


WHILE = """
func @body(%x: i32) -> (i32, i1) {
  %one = tfrt.constant.i32 1
  %y = "tfrt_test.async_add.i32"(%x, %one) : (i32, i32) -> i32
  %three = tfrt.constant.i32 3
  %more = "tfrt.lessequal.i32"(%y, %three) : (i32, i32) -> i1
  tfrt.return %y, %more : i32, i1
}
func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @body(%zero) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""


def test_each_iteration_is_a_call(leak_check: None) -> None:
    lines = told(WHILE, Level.DEFAULT, value=4)

    assert lines == [*MAIN, *["Scope:Function: body", "End Scope"] * 4, "End Scope", "End Scope"]


SYNC_TEXT = """
func @double(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = "tfrt.add_s.i32"(%x, %x) : (i32, i32) -> i32
  %z = tfrt.mul_s.i32 %y, %y
  tfrt.return %z : i32
}
func @main() -> i32 {
  %two = tfrt.constant.i32 2
  %sixteen = tfrt.call @double(%two) : (i32) -> i32
  tfrt.return %sixteen : i32
}
"""


def test_sync_functions_and_their_kernels_are_told_of(leak_check: None) -> None:
    call, end = "Scope:Function: double", ["End Scope"] * 3

    assert told(SYNC_TEXT, Level.DEFAULT) == [*MAIN, call, *end]
    lines = told(SYNC_TEXT, Level.DEBUG)
    assert [line for line in lines if line.startswith("Scope:tfrt.")] == [
        "Scope:tfrt.call",
        "Scope:tfrt.add_s.i32",
        "Scope:tfrt.mul_s.i32",
    ]


def test_work_that_a_kernel_enqueues_is_not_taken_for_the_program_s(
    run: Run, leak_check: None
) -> None:
    """That work has its own numbers for functions and registers, of which the program has fewer."""

    @kernel("test.enqueues", raw=True)
    def enqueues(frame: KernelFrame) -> AsyncValue:
        return frame.enqueue(lambda: "a string", blocking=True)

    try:
        text = (
            'func @main() -> !my.text {\n  %x = "test.enqueues"() : () -> !my.text\n  '
            "tfrt.return %x : !my.text\n}"
        )
        execution = run(text, watch=True)
        assert execution.wait(SLOW)
        assert execution.results[0].result(0) == "a string"
        assert execution.watch is not None
        events = logged(execution.watch.take())
        assert {event[1] for event in events if event[4] == KINDS.index("call")} == {0}
        assert [(f, r) for f, r, _ in execution.watch.kept_values()] == [(0, 0)]
    finally:
        USER_KERNELS.pop("test.enqueues")
