"""What the runs of a program that was loaded for tracing tell."""

from __future__ import annotations

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.trace import DebugSink, Level, Tracing

SLOW = 20

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


def told(
    text: str, loaded_for: Level, level: Level, queue: str = "s", value: int = 16
) -> list[str]:
    lines: list[str] = []
    tracing = Tracing(DebugSink(lines.append), level)
    with HostContext(queue, tracing=tracing) as host, tracing.requested():
        program = Program.from_source(text, "test.mlir").load(tracing=loaded_for)
        execution = Execution(host, program, "main")
        assert execution.wait(SLOW)
        assert execution.results[0].result(0) == value
        del execution, program
    return [line.rstrip() for line in lines]


def test_runs_and_calls_are_told_of(leak_check: None) -> None:
    call = ["Scope:Function: double", "End Scope"]
    iterations = ["Scope:Function: region", "End Scope"] * 2

    assert told(TEXT, Level.DEFAULT, Level.DEFAULT) == [
        *MAIN,
        *call,
        *iterations,
        "End Scope",
        "End Scope",
    ]


def test_kernels_are_told_of_at_level_debug(leak_check: None) -> None:
    lines = told(TEXT, Level.DEBUG, Level.DEBUG)

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
    assert sorted(told(TEXT, Level.DEBUG, Level.DEBUG, queue)) == sorted(
        told(TEXT, Level.DEBUG, Level.DEBUG)
    )


def test_the_sink_s_level_counts_too() -> None:
    assert told(TEXT, Level.DEBUG, Level.DEFAULT) == told(TEXT, Level.DEFAULT, Level.DEFAULT)


def test_a_program_that_was_not_loaded_for_tracing_tells_of_its_runs_only() -> None:
    assert told(TEXT, Level.NONE, Level.DEBUG) == ["Scope:Bef Executor", "End Scope"]


def test_without_a_tracing_nothing_is_told(host: HostContext) -> None:
    program = Program.from_source(TEXT, "test.mlir").load(tracing=Level.DEBUG)
    execution = Execution(host, program, "main")

    assert execution.wait(SLOW)
    assert execution.results[0].result(0) == 16


ERRORS = """
func @main() -> i32 {
  %zero = tfrt.constant.i32 0
  %bad, %worse = tfrt.div.i32 %zero, %zero
  %skipped = tfrt.add.i32 %bad, %zero
  tfrt.return %zero : i32
}
"""


def test_a_kernel_that_fails_is_told_of_and_one_that_is_skipped_is_not() -> None:
    lines = told(ERRORS, Level.DEBUG, Level.DEBUG, value=0)

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
    lines = told(WHILE, Level.DEFAULT, Level.DEFAULT, value=4)

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

    assert told(SYNC_TEXT, Level.DEFAULT, Level.DEFAULT) == [*MAIN, call, *end]
    lines = told(SYNC_TEXT, Level.DEBUG, Level.DEBUG)
    assert [line for line in lines if line.startswith("Scope:tfrt.")] == [
        "Scope:tfrt.call",
        "Scope:tfrt.add_s.i32",
        "Scope:tfrt.mul_s.i32",
    ]
