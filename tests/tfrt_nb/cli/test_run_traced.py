"""Test `tfrt-nb run` with a trace, and its messages about runs that do not finish."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.fuzz.documents import broken_pairs, partly_overlapping

from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.users.user import USER_KERNELS, kernel

TEXT = """func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  tfrt.return %two : i32
}
"""
PRINTED = "--- Running 'main':\n'main' returned 2\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(on_text: Run) -> Run:
    """A function: `run(text, *options)` returns status, standard output, and standard error."""
    return partial(on_text, "run")


def test_the_debug_sink_prints_between_the_program_s_lines(run: Run) -> None:
    status, output, _ = run(TEXT, "--tracing-sink", "debug", "--trace-level", "debug")

    assert status == 0
    assert output.splitlines() == [
        "--- Running 'main':",
        "Scope:Bef Executor",
        "Scope:Function: main",
        "Scope:tfrt.add.i32",
        "End Scope",
        "End Scope",
        "End Scope",
        "'main' returned 2",
    ]


def test_the_simple_sink_prints_at_the_end(run: Run) -> None:
    status, output, errors = run(TEXT, "--tracing-sink", "simple")

    times = re.sub(r"[0-9.]+ us", "T us", errors)
    assert (status, output) == (0, PRINTED)
    assert times.splitlines() == [
        "main: 2 activities",
        "  T us, T us: Bef Executor",
        "  T us, T us: Function: main",
    ]


@pytest.mark.parametrize(
    ("level", "names"),
    [
        ("none", set()),
        ("default", {"Bef Executor", "Function: main"}),
        ("debug", {"Bef Executor", "Function: main", "tfrt.add.i32"}),
        ("", {"Bef Executor", "Function: main", "tfrt.add.i32"}),
    ],
)
def test_a_trace_is_a_file(run: Run, tmp_path: Path, level: str, names: set[str]) -> None:
    path = tmp_path / "trace.json"
    outcome = run(TEXT, "--trace", str(path), *(["--trace-level", level] if level else []))
    events = json.loads(path.read_text())["traceEvents"]

    assert outcome == (0, PRINTED, "")
    assert {event["name"] for event in events} - {"thread_name"} == names


TWO_CALLS = """func @f(%x: i32) -> i32 {
  %a = demo.wait.i32 %x {seconds = 0.02}
  tfrt.return %a : i32
}
func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = tfrt.call @f(%one) : (i32) -> i32
  %b = tfrt.call @f(%one) : (i32) -> i32
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""


def test_calls_and_waits_overlap_in_a_trace_and_slices_of_a_thread_do_not(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    run(TWO_CALLS, "--trace", str(path), "--work-queue", "s")
    events = json.loads(path.read_text())["traceEvents"]
    names = {ph: [one["name"] for one in events if one["ph"] == ph] for ph in "Xbs"}

    assert [*partly_overlapping(events), *broken_pairs(events)] == []
    assert sorted(names["X"]) == ["demo.wait.i32", "demo.wait.i32", "tfrt.add.i32"]
    assert sorted({*names["b"]}) == [
        *("Bef Executor", "Function: f", "Function: main", "tfrt.call", "wait: demo.wait.i32"),
    ]
    # The two waits start from the calls of @f, and the sum from the call that came last.
    assert sorted(names["s"]) == ["demo.wait.i32", "demo.wait.i32", "tfrt.add.i32"]


def test_a_trace_that_cannot_be_written_is_refused(run: Run) -> None:
    status, output, errors = run(TEXT, "--trace", "/no/such/folder/trace.json")

    assert (status, output) == (1, "")
    assert "cannot write the trace '/no/such/folder/trace.json'" in errors


# --- runs that do not end ---

LATER = """func @main() -> i32 {
  %one = "test.later"() : () -> i32
  tfrt.return %one : i32
}
"""


@pytest.fixture
def held() -> Iterator[list[AsyncValue]]:
    """The values that `test.later` has promised."""
    values: list[AsyncValue] = []

    @kernel("test.later")
    def later(frame: KernelFrame) -> AsyncValue:
        values.append(frame.allocate())
        return values[-1]

    yield values
    values.clear()
    USER_KERNELS.pop("test.later")


def test_a_function_whose_time_is_over_says_what_it_waited_for(
    run: Run, held: list[AsyncValue]
) -> None:
    status, output, errors = run(LATER, "--timeout", "0.05")

    result = "'main' returned <<error: timed out after 0.05 s>>"
    assert (status, output) == (1, f"--- Running 'main':\n{result}\n")
    assert errors.splitlines() == [
        "f.mlir:1:1: error: @main did not finish within 0.05 s and was cancelled",
        "func @main() -> i32 {",
        "^",
        (
            "f.mlir:2:10: note: kernel 'test.later' has not resolved its result 0 yet: it is waiting "  # noqa: E501
            "for a thread, or a callback, that sets it"
        ),
        '  %one = "test.later"() : () -> i32',
        "         ^",
    ]
