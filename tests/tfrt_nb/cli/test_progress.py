"""Test the line in a terminal that shows a run's progress."""

from __future__ import annotations

import io
import re
import threading

from tfrt_nb.cli.running.following import CLEAR, ProgressLine, counted_text, progress_text
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.tracing.events import Watch
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

SLOW = 30
TEXT = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  %x = "test.gate"(%two) : (i32) -> i32
  tfrt.return %x : i32
}
"""
HOT = """func.func @down(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %more = tfrt.less.i32 %zero, %n
  %r = tfrt.if %more, %n : (i32) -> (i32) {
    %one = tfrt.constant.i32 1
    %less = tfrt.minus.i32 %n, %one
    %x = tfrt.call @down(%less) : (i32) -> i32
    tfrt.return %x : i32
  } else {
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}
func.func @main() -> i32 {
  %n = tfrt.constant.i32 100
  %m = tfrt.call @down(%n) : (i32) -> i32
  tfrt.return %m : i32
}
"""


class Screen(io.StringIO):
    """A terminal; the event `shown` is set with the first line."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = threading.Event()

    def write(self, text: str) -> int:
        if "runs test.gate" in text:
            self.shown.set()
        return super().write(text)


def gated(host: HostContext, watch: Watch | None) -> tuple[Program, Execution, threading.Event]:
    """Return a run whose kernel has started, and waits for the event."""
    began, go_on = threading.Event(), threading.Event()

    def gate(x: int) -> int:
        began.set()
        assert go_on.wait(SLOW)
        return x

    kernels = {**standard_kernels(), "test.gate": user_kernel("test.gate", gate, blocking=True)}
    program = Program.from_source(TEXT, "p")
    run = Execution(host, program.load(kernels), "main", watch=watch)
    assert began.wait(SLOW)
    return program, run, go_on


def test_it_says_how_many_values_there_are_and_what_runs() -> None:
    with HostContext("mstd:1") as host:
        program, run, go_on = gated(host, Watch())
        text = progress_text(RunDocument(program, run), 2.4)
        go_on.set()
        assert run.wait(SLOW)
    assert text.startswith("@main 2 s: 2 available, 1 running; runs test.gate (line 4, ")


def test_it_is_written_while_a_run_goes_on_and_cleared_at_its_end() -> None:
    screen = Screen()
    with HostContext("mstd:1") as host:
        line = ProgressLine(Program.from_source(TEXT, "p"), screen, quiet=0)
        with line:
            _, run, go_on = gated(host, line.watch(None))
            line.follow(run)
            assert screen.shown.wait(SLOW)
            printed: list[str] = []
            line.around(printed.append)("text")
            assert printed == ["text"]
            go_on.set()
            assert run.wait(SLOW)
    assert screen.getvalue().endswith(CLEAR)


def test_it_does_not_keep_functions_from_becoming_machine_code() -> None:
    program = Program.from_source(HOT, "p")
    executable = program.load()
    line = ProgressLine(program, Screen(), quiet=SLOW)
    with HostContext("mstd:1") as host, line:
        watch = line.watch(executable)
        run = Execution(host, executable, "main", watch=watch, tier=Tier.COMPILED)
        line.follow(run)
        assert run.wait(SLOW)
        assert re.fullmatch(r"@main 2 s: (\d+) of \1 kernels, compiled", counted_text(run, 2.4))
    with ProgressLine(program, Screen(), tier=Tier.INTERPRETER) as line:
        assert line.watch(executable) is not None
