"""Test cells on the real compiler and the real runtime."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.runtime import NotebookHost
from tfrt_magics.bridge.snapshot import Snapshot, Status
from tfrt_magics.session import Session
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import Location, TfrtError
from tfrt_runtime.kernels.users.user import USER_KERNELS, kernel

PATIENCE = 60.0


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest) -> Iterator[NotebookHost]:
    host = NotebookHost(request.param)
    yield host
    host.close()


def start(host: NotebookHost, text: str, *, timeout: float | None = None) -> Job:
    program = Program.from_source("\n" + text, "cell 1")
    functions = [each for each in program.functions if not each.argument_types]
    job = Job(host.load(program), functions, timeout=timeout)
    job.start()
    return job


def run(host: NotebookHost, text: str, **settings) -> Snapshot:
    job = start(host, text, **settings)
    assert job.finished.wait(PATIENCE)
    return job.snapshot()


def states(snapshot: Snapshot, section: int = 0) -> dict[str, tuple[str, str]]:
    """Return the state and the text of each row of a section."""
    return {row.name: (str(row.state), row.text) for row in snapshot.sections[section].rows}


def test_each_named_value_has_its_state_and_text(host) -> None:
    snapshot = run(
        host,
        """
func @main() -> (i32, i1) {
  %chain = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  %same = tfrt.equal.i32 %one, %two
  %word = tfrt_test.get_string {value = "data"}
  %printed = tfrt.print.i32 %two, %chain
  tfrt.return %two, %same : i32, i1
}
""",
    )
    assert states(snapshot) == {
        "result 0": ("available", "2"),
        "result 1": ("available", "false"),
        "%chain": ("available", "chain"),
        "%one": ("available", "1"),
        "%two": ("available", "2"),
        "%same": ("available", "false"),
        "%word": ("available", "data"),
        "%printed": ("available", "chain"),
    }
    assert (snapshot.status, snapshot.log) == (Status.DONE, "int32 = 2\n")


def test_an_error_fails_its_own_values_and_skips_what_depends_on_them(host) -> None:
    program = """
func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %quotient, %rest = tfrt.div.i32 %one, %zero
  %more = tfrt.add.i32 %quotient, %one
  %fine = tfrt.add.i32 %one, %one
  tfrt.return %more, %fine : i32, i32
}
"""
    job = start(host, program)
    assert job.finished.wait(PATIENCE)
    assert states(job.snapshot()) == {
        "result 0": ("skipped", ""),
        "result 1": ("available", "2"),
        "%one": ("available", "1"),
        "%zero": ("available", "0"),
        "%quotient": ("error", "Divide by zero"),
        "%rest": ("error", "Divide by zero"),
        "%more": ("skipped", ""),
        "%fine": ("available", "2"),
    }
    rows = {row.name: row for row in job.snapshot().sections[0].rows}
    assert rows["%more"].worker is None and rows["%quotient"].worker is not None
    (problem,) = job.diagnostics
    assert problem.message == "Divide by zero"
    assert isinstance(problem.location, Location)
    assert (problem.location.line, problem.location.column) == (6, 22)
    failed, fine = job.output
    assert (failed.state, fine.result()) == ("error", 2)


def test_an_error_within_a_compiled_function_is_that_of_its_call(host) -> None:
    snapshot = run(
        host,
        """
func.func @main() -> (i32, i32) {
  %zero = tfrt.constant.i32 0
  %bad = tfrt.call @check(%zero) : (i32) -> i32
  %after = tfrt.add.i32 %bad, %zero
  %again = tfrt.call @check(%after) : (i32) -> i32
  tfrt.return %after, %again : i32, i32
}
async.func private @check(%x: i32) -> !async.value<i32> {
  %one = arith.constant 1 : i32
  %q = arith.divsi %one, %x : i32
  return %q : i32
}
""",
    )
    seen = {name: state for name, (state, _) in states(snapshot, 0).items() if name[0] == "%"}
    assert seen == {"%zero": "available", "%bad": "error", "%after": "skipped", "%again": "skipped"}


def test_a_branch_not_taken_is_skipped_and_captured_values_are_not_repeated(host) -> None:
    snapshot = run(
        host,
        """
func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.equal.i32 %one, %one
  %value = tfrt.if %yes, %one : (i32) -> i32 {
    %taken = tfrt.add.i32 %one, %one
    tfrt.return %taken : i32
  } else {
    %not_taken = tfrt.add.i32 %one, %one
    tfrt.return %not_taken : i32
  }
  tfrt.return %value : i32
}
""",
    )
    assert states(snapshot) == {
        "result": ("available", "2"),
        "%one": ("available", "1"),
        "%yes": ("available", "true"),
        "%value": ("available", "2"),
        "%taken": ("available", "2"),
        "%not_taken": ("skipped", ""),
    }
    assert snapshot.status is Status.DONE


def test_values_of_called_functions_are_shown_where_they_were_called(host) -> None:
    snapshot = run(
        host,
        """
func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func @main() -> i32 {
  %three = tfrt.constant.i32 3
  %six = tfrt.call @double(%three) : (i32) -> i32
  tfrt.return %six : i32
}
func @other() -> i32 {
  %four = tfrt.constant.i32 4
  tfrt.return %four : i32
}
""",
    )
    assert [list(states(snapshot, place)) for place in (0, 1)] == [
        ["result", "%three", "%six", "@double %x", "@double %y"],
        ["result", "%four"],
    ]


def test_a_loop_counts_how_often_its_values_were_made(host) -> None:
    snapshot = run(
        host,
        """
func @main() -> i32 {
  %n = tfrt.constant.i32 3
  %start = tfrt.constant.i32 1
  %end = tfrt.repeat.i32 %n, %start : i32 {
    %next = tfrt.add.i32 %start, %start
    tfrt.return %next : i32
  }
  tfrt.return %end : i32
}
""",
    )
    assert [(row.name, row.text, row.count) for row in snapshot.sections[0].rows] == [
        ("result", "8", 1),
        ("%n", "3", 1),
        ("%start", "1", 1),
        ("%end", "8", 1),
        ("%next", "8", 3),
    ]


WAITS = """
func @main() -> i32 {
  %microseconds = tfrt.constant.i32 400000
  %slept = "tfrt_test.blocking.usleep"(%microseconds) : (i32) -> !tfrt.chain
  %late = "tfrt_test.identity"(%slept, %microseconds) : (!tfrt.chain, i32) -> i32
  tfrt.return %late : i32
}
"""


CHAIN = """
func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = "test_runtime.nap"(%a) : (i32) -> i32
  %c = "test_runtime.nap"(%b) : (i32) -> i32
  %d = "test_runtime.nap"(%c) : (i32) -> i32
  tfrt.return %d : i32
}
"""


def test_time_is_over_also_while_a_chain_of_kernels_keeps_the_waiting_thread(host) -> None:
    @kernel("test_runtime.nap")
    def nap(number: int) -> int:
        time.sleep(0.3)
        return number

    try:
        snapshot = run(host, CHAIN, timeout=0.4)
    finally:
        USER_KERNELS.pop("test_runtime.nap")

    assert snapshot.status is Status.TIMED_OUT
    assert states(snapshot)["%b"] == ("available", "1")
    assert states(snapshot)["%d"] == ("cancelled", "")


def test_a_stop_names_only_what_did_not_come_before_the_end(host) -> None:
    program = Program.from_source(f"\n{ADDS}", "cell 1")
    job = Job(host.load(program, slow=1e9), list(program.functions), timeout=0.3)
    job.start()
    assert job.finished.wait(PATIENCE)

    assert states(job.snapshot())["%b"] == (
        "available",
        "2",
    )  # only the end of its kernel's delay was missing
    assert job.snapshot().note == "timed out after 0.3 s; @main was still waiting for %c"


ADDS = """
func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a
  %c = tfrt.add.i32 %b, %a
  tfrt.return %c : i32
}
"""
CONSTANT = "func @main() -> i32 {\n  %a = tfrt.constant.i32 1\n  tfrt.return %a : i32\n}"


def test_a_constant_is_loaded_and_not_computed(host) -> None:
    rows = {row.name: (row.count, row.worker) for row in run(host, CONSTANT).sections[0].rows}
    assert rows["%a"] == (1, None)


DEPENDS = """
func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %late = demo.wait.i32 %one {seconds = 9.0}
  %sum = tfrt.add.i32 %late, %one
  tfrt.return %sum : i32
}
"""


def test_what_depends_on_a_cancelled_value_is_cancelled_too(host) -> None:
    found = states(run(host, DEPENDS, timeout=0.1))
    assert found["%late"] == found["%sum"] == found["result"] == ("cancelled", "")
    assert found["%one"] == ("available", "1")


def test_a_value_is_unavailable_while_its_kernel_runs(host) -> None:
    job = start(host, WAITS)
    job.wait_for_results()
    before = states(job.snapshot())
    assert job.finished.wait(PATIENCE)
    after = states(job.snapshot())
    assert [look["%late"] for look in (before, after)] == [
        ("unavailable", ""),
        ("available", "400000"),
    ]


def test_a_program_that_cancels_itself_is_cancelled(host) -> None:
    snapshot = run(
        host,
        """
func @main() -> (i32, !tfrt.chain) {
  %c = tfrt.new.chain
  %x, %d = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %e = tfrt.print.i32 %x, %d
  tfrt.return %x, %e : i32, !tfrt.chain
}
""",
    )
    assert snapshot.status is Status.CANCELLED
    assert states(snapshot)["%e"] == ("cancelled", "")


@pytest.fixture
def own_kernels() -> Iterator[None]:
    """A user's kernels, unregistered afterward."""

    @kernel("magics_test.square")
    def square(number: int) -> int:
        return number * number

    class Shy:
        def __str__(self) -> str:
            raise RuntimeError("no")

    class ShyNumber(int):
        __str__ = Shy.__str__

    kernel("magics_test.shy")(lambda: Shy())
    kernel("magics_test.shy_number")(lambda: ShyNumber(3))
    kernel("magics_test.long_number")(lambda: 10**6000)
    yield
    for name in ("square", "shy", "shy_number", "long_number"):
        USER_KERNELS.pop(f"magics_test.{name}")


def test_kernels_of_the_notebook_can_be_used(host, own_kernels) -> None:
    snapshot = run(
        host,
        """
func @main() -> i32 {
  %seven = tfrt.constant.i32 7
  %square = "magics_test.square"(%seven) : (i32) -> i32
  tfrt.return %square : i32
}
""",
    )
    assert states(snapshot)["result"] == ("available", "49")


def test_an_unknown_kernel_is_refused_before_the_run(host) -> None:
    with pytest.raises(TfrtError, match="unknown kernel name 'magics_test.nonesuch'"):
        start(host, 'func @main() {\n  "magics_test.nonesuch"() : () -> ()\n  tfrt.return\n}\n')


def test_an_object_that_cannot_be_shown_does_not_hide_the_others(host, own_kernels) -> None:
    snapshot = run(
        host,
        """
func @main() -> !my.shy {
  %one = tfrt.constant.i32 1
  %shy = "magics_test.shy"() : () -> !my.shy
  %number = "magics_test.shy_number"() : () -> !my.shy
  %long = "magics_test.long_number"() : () -> !my.shy
  tfrt.return %shy : !my.shy
}
""",
    )
    assert states(snapshot) == {
        "result": ("available", "<Shy: RuntimeError in its text>"),
        "%one": ("available", "1"),
        "%shy": ("available", "<Shy: RuntimeError in its text>"),
        "%number": ("available", "<ShyNumber: RuntimeError in its text>"),
        "%long": ("available", "<int: ValueError in its text>"),
    }


def test_cells_that_do_not_wait_may_use_the_notebooks_event_loop() -> None:
    loops = []

    @kernel("magics_test.loop")
    async def loop_of() -> int:
        loops.append(asyncio.get_running_loop())
        return 7

    text = """
func.func @main() -> i32 {
  %x = "magics_test.loop"() : () -> i32
  tfrt.return %x : i32
}
"""
    session = Session()
    session.settings.loop = "notebook"
    program = session.compile(text, "cell 1")

    async def run_cells() -> asyncio.AbstractEventLoop:
        for waits in (True, False):
            job = session.job(program, program.functions, "s", None, waits=waits)
            job.start()
            assert await asyncio.to_thread(job.finished.wait, PATIENCE)
            assert job.diagnostics == ()
        session.close()
        return asyncio.get_running_loop()

    notebook = asyncio.run(run_cells())

    assert [loop is notebook for loop in loops] == [False, True]
    with pytest.raises(TfrtError, match="no event loop runs here"):
        session.job(program, program.functions, "s", None, waits=False)
    session.close()
    USER_KERNELS.pop("magics_test.loop")


IN_TERMINAL = """
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "tfrt_nb")
shell.run_cell('''%%tfrt
func.func @main() -> i32 {
  %six = tfrt.constant.i32 6
  %later = demo.wait.i32 %six {seconds = 1.5}
  tfrt.return %later : i32
}''')
"""


def test_a_terminal_says_in_one_line_how_far_a_run_is_and_then_shows_the_table() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", IN_TERMINAL], stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    line, table = shown.decode().rsplit("\r\x1b[2K", 1)

    assert "1 available, 1 running; runs demo.wait.i32 (line 4" in line
    assert "\n" not in line.partition("@main")[2]
    assert "@main: done, 2 of 2 values" in table
