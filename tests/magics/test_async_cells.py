"""Test cells with async programs, in plain IPython on the real compiler and runtime."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.compiled import holders
from tfrt_magics.views.outlet import has_no_board
from tfrt_magics.views.stages import stage_bundle
from tfrt_nb.report import word_at
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.diagnostics import Location
from tfrt_runtime.host.values.held_value import State

SLOW = 240
"""Many more seconds than any step here takes."""

GREETING = """func.func @main() -> i64 {
  %a = arith.constant 21 : i64
  %t, %v = async.execute -> !async.value<i64> {
    %b = arith.addi %a, %a : i64
    func.call @printI64(%b) : (i64) -> ()
    func.call @printNewline() : () -> ()
    async.yield %b : i64
  }
  %x = async.await %v : !async.value<i64>
  return %x : i64
}
func.func private @printI64(i64)
func.func private @printNewline()
"""
LATER = """async.func @main() -> (!async.token, !async.value<f64>) {
  %a = arith.constant 1.5 : f64
  return %a : f64
}
"""
LEAK = """func.func @main() {
  %kept = async.runtime.create : !async.token
  async.runtime.set_available %kept : !async.token
  async.runtime.add_ref %kept {count = 1 : i64} : !async.token
  return
}
"""


@pytest.fixture
def shell(notebook: InteractiveShell) -> InteractiveShell:
    return notebook


def run(shell: InteractiveShell, line: str, program: str) -> object:
    """Run a cell; return the exception that ended it, if any."""
    return shell.run_cell(f"%%tfrt {line}\n{program}").error_in_exec


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_cell_runs_main_and_shows_what_it_prints_and_makes(shell, queue: str, capsys) -> None:
    assert run(shell, f"-q {queue}", GREETING) is None
    captured = capsys.readouterr()

    assert captured.err == ""
    lines = [" ".join(line.split()) for line in captured.out.splitlines()]
    assert lines[0] == "42"
    assert re.fullmatch(f"● @main: done, 3 of 3 values, .*, on {queue}", lines[1])
    worker, time = r"\S+( \d+)?", r"\S+ [mµn]?s \+ \S+ [mµn]?s"
    rows = [
        "● available result 42 i64",
        f"● available %t !async.token {worker} {time}",
        f"● available %v 42 !async.value<i64> {worker} {time}",
        r"● available %x 42 i64 \S+ [mµn]?s \+ 0 ns",
    ]
    for row, line in zip(rows, lines[2:], strict=True):
        assert re.fullmatch(row, line)


def test_the_value_of_an_async_function_is_in_the_row_of_its_call(shell, capsys) -> None:
    called = """async.func @twice(%x: i64) -> !async.value<i64> {
  %t, %v = async.execute -> !async.value<i64> {
    %y = arith.addi %x, %x : i64
    async.yield %y : i64
  }
  %z = async.await %v : !async.value<i64>
  return %z : i64
}
func.func @main() -> i64 {
  %a = arith.constant 21 : i64
  %call = async.call @twice(%a) : (i64) -> !async.value<i64>
  %r = async.await %call : !async.value<i64>
  return %r : i64
}
"""
    at_once = called.replace("%t, %v = async.execute -> !async.value<i64> {\n    ", "").replace(
        "    async.yield %y : i64\n  }\n  %z = async.await %v : !async.value<i64>\n  return %z",
        "  return %y",
    )
    assert "execute" not in at_once
    for program in (called, at_once):  # the second creates no object
        run(shell, "", program)
        assert re.search(r"● available  %call +42 ", capsys.readouterr().out)


def test_an_argument_that_came_late_is_available(shell, capsys) -> None:
    program = "func.func @main(%late: !async.value<i64>) -> i64 {\n"
    program += "  %x = async.await %late : !async.value<i64>\n  return %x : i64\n}\n"
    shell.run_cell("import tfrt_nb\nbox = tfrt_nb.unavailable()")
    run(shell, "--no-wait --in late=box -o x", program)
    shell.user_ns["box"].set_result(42)
    assert shell.user_ns["x"].result(SLOW) == 42
    capsys.readouterr()
    run(shell, "--in late=box", program)
    assert re.search(r"● available  %late ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("line", "printed"), [("", "● @main: done"), ("--no-wait", "@main runs in the background\n")]
)
def test_results_come_back_to_python(shell, line: str, printed: str, capsys) -> None:
    assert run(shell, f"{line} -o both", LATER) is None
    assert capsys.readouterr().out.startswith(printed)
    token, value = shell.user_ns["both"]
    assert (value.result(SLOW), token.state) == (1.5, State.AVAILABLE)


def test_an_error_is_shown_under_its_line(shell, capsys) -> None:
    wrong = GREETING.replace(
        "%b = arith.addi %a, %a", "%z = arith.subi %a, %a : i64\n    %b = arith.divsi %a, %z"
    )
    assert "division by zero – cell" in str(run(shell, "-o x", wrong))
    captured = capsys.readouterr()

    assert "▲ @main: failed" in captured.out
    [head, line, caret] = captured.err.splitlines()
    assert head.endswith(":6:10: error: division by zero")
    assert (line.strip(), caret.strip()) == ("%b = arith.divsi %a, %z : i64", "^^^^^^^^^^^")
    assert "division by zero" in str(shell.user_ns["x"].exception(0))


TWO_FAIL = """
func.func @main() -> !async.token {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = async.execute {
    %x = arith.divsi %one, %zero : i32
    async.yield
  }
  %second = async.execute {
    %y = arith.remsi %one, %zero : i32
    async.yield
  }
  async.await %first : !async.token
  return %second : !async.token
}
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_each_place_at_which_a_run_fails_is_shown(shell, queue: str, capsys) -> None:
    run(shell, f"-q {queue}", TWO_FAIL)
    errors = capsys.readouterr().err
    lines = TWO_FAIL.split("\n")

    for text in ("arith.divsi", "arith.remsi"):
        number = next(i for i, line in enumerate(lines) if text in line)
        assert f":{number + 2}:10: error: division by zero" in errors


def test_what_cannot_be_compiled_is_shown_before_anything_runs(shell, capsys) -> None:
    run(shell, "", GREETING.replace("@printNewline", "@elsewhere"))
    captured = capsys.readouterr()

    assert captured.out.startswith("TfrtError: 'elsewhere' is declared but not defined")
    assert "'elsewhere' is declared but not defined" in captured.err


def test_what_is_left_over_is_told_under_the_cell_and_on_demand(shell, capsys) -> None:
    shell.run_line_magic("async_leaks", "")
    assert capsys.readouterr().out == "no async object is left over\n"
    assert run(shell, "", LEAK) is None
    captured = capsys.readouterr()
    assert "● @main: done" in captured.out
    assert "warning: a token of 'async.runtime.create' is left over: available; 2 references" in (
        captured.err
    )
    shell.run_line_magic("async_leaks", "")
    assert capsys.readouterr().out.endswith(
        ":3:11: token of 'async.runtime.create', available; 2 references were never dropped\n"
    )


COMPUTES_ON = """func.func @main() -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %r = scf.while (%x = %zero) : (i64) -> i64 {
    scf.condition(%true) %x : i64
  } do {
  ^bb0(%x: i64):
    %y = arith.addi %x, %one : i64
    scf.yield %y : i64
  }
  return %r : i64
}
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_loop_that_never_ends_is_stopped_and_shown(shell, queue: str, capsys) -> None:
    failure = str(run(shell, f"-q {queue} --timeout 0.1", COMPUTES_ON))
    assert failure.startswith("timed out after 0.1 s") and failure.endswith(", line 6")
    captured = capsys.readouterr()
    assert "■ @main: timed out" in captured.out
    [head, line, caret] = captured.err.splitlines()
    assert head.endswith(":6:8: error: Cancelled")
    assert (line.strip()[:14], caret.strip()) == ("%r = scf.while", "^^^^^^^^^")

    assert run(shell, f"-q {queue} -o after", GREETING) is None  # on the same host
    assert shell.user_ns["after"].result(SLOW) == 42


def test_a_result_that_a_name_of_the_user_holds_is_no_leak(shell, capsys) -> None:
    assert run(shell, "", LATER) is None  # from now on, the host is checked
    assert run(shell, "-o both", LATER) is None
    capsys.readouterr()
    shell.run_line_magic("async_leaks", "")

    assert capsys.readouterr().out == "no async object is left over\n"


def test_what_an_earlier_cell_left_over_is_no_row_of_a_later_one(shell, capsys) -> None:
    assert run(shell, "", LEAK) is None
    capsys.readouterr()
    shell.execution_count += 1
    assert run(shell, "-q s", GREETING) is None
    assert run(shell, "", GREETING) is None
    output = capsys.readouterr().out

    assert output.count("%t ") == output.count("%v ") == 2
    assert "%kept" not in output


def test_a_stage_is_shown_and_nothing_runs(shell, capsys) -> None:
    assert run(shell, "--emit async-runtime -o nothing", GREETING) is None
    output = capsys.readouterr().out

    assert output.startswith("module {\n  func.func @main()")
    assert "async.execute" not in output
    assert "nothing" not in shell.user_ns


LOOP = """func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.reduce
  }
  return
}
"""


@pytest.mark.parametrize(
    ("line", "first", "is_split"),
    [
        ("", "", False),
        ("--parallel-for num-workers=2", "", True),
        ("--parallel-for 'num-workers=2 min-task-size=8'", "", True),
        ("", "// parallel-for: num-workers=2\n", True),
    ],
)
def test_parallel_loops_become_tasks_when_asked(
    shell, line: str, first: str, is_split: bool, capsys
) -> None:
    assert run(shell, f"--emit async-runtime {line}", first + LOOP) is None
    assert ("parallel_compute_fn" in capsys.readouterr().out) is is_split


def test_a_wrong_option_for_parallel_loops_is_an_error_of_the_cell(shell, capsys) -> None:
    assert "parallel-for options 'speed=9'" in str(run(shell, "--parallel-for speed=9", LOOP))


def test_a_program_without_main_says_so(shell, capsys) -> None:
    assert run(shell, "", LATER.replace("@main", "@later")) is None
    said = "the program compiles; it has no @main to run; --function later runs @later"
    assert capsys.readouterr().out.splitlines()[0].endswith(f"remark: {said}")
    assert run(shell, "-f later -o both", LATER.replace("@main", "@later")) is None
    assert shell.user_ns["both"][1].result(SLOW) == 1.5


def test_a_page_shows_a_stage_in_color() -> None:
    bundle = stage_bundle("  call void @f(i64 %x)\n", "llvm")

    assert bundle["text/plain"] == "  call void @f(i64 %x)\n"
    assert '<span style="color: ' in str(bundle["text/html"])


@pytest.mark.parametrize(
    ("line", "column", "operation"),
    [
        ("  %t = async.execute {", 8, "async.execute"),
        ('  "async.execute"() ({', 3, "async.execute"),
        ("", 9, ""),
    ],
)
def test_an_object_is_named_by_the_operation_at_its_place(
    line: str, column: int, operation: str
) -> None:
    assert word_at(f"\n{line}\n", Location("cell", 2, column)) == operation


@pytest.mark.parametrize(
    ("references", "state", "text"),
    [
        (1, State.AVAILABLE, "available; 1 reference was never dropped"),
        (1, State.UNAVAILABLE, "1 reference: held by its producer, which must resolve it"),
        (
            3,
            State.UNAVAILABLE,
            "3 references: held by its producer, which must resolve it, and by 2 more",
        ),
    ],
)
def test_who_holds_an_object_is_said_in_words(references: int, state: State, text: str) -> None:
    assert holders(LiveObject("token", references, state)) == text


ENDLESS = """func.func @main() {
  func.call @printNewline() : () -> ()
  cf.br ^loop
^loop:
  cf.br ^loop
}
func.func private @printNewline()
"""
SCRIPT = """
import os, signal, sys
from tfrt_magics.bridge.job import Log
from IPython.testing.globalipapp import start_ipython

shell = start_ipython()
shell.run_line_magic("load_ext", "tfrt_nb")
line, endless, later = sys.argv[1:]
Log.write = lambda *_: os.kill(os.getpid(), signal.SIGINT)  # it prints, so it runs
problem = shell.run_cell(f"%%tfrt {line}\\n{endless}").error_in_exec
print("ended by", type(problem).__name__)
shell.run_cell(f"%%tfrt {line} -o both\\n{later}")
print("then", shell.user_ns["both"][1].result(60))
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_an_interrupt_ends_a_cell_that_computes_and_the_next_one_runs(queue: str) -> None:
    command = [sys.executable, "-c", SCRIPT, f"-q {queue}", ENDLESS, LATER]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SLOW)

    assert "■ @main: cancelled" in done.stdout
    assert "ended by RunInterrupted\n" in done.stdout
    assert done.stdout.endswith("then 1.5\n")


def test_bytes_have_no_colors_and_other_stages_no_errors() -> None:
    assert "<span style" not in str(stage_bundle("0000b8  0b ef 00  section", "bef")["text/html"])
    program = "module {\n  func.func @main(%a: i32) -> !async.token\n}\n"
    assert "border:" not in str(stage_bundle(program, "coroutine")["text/html"])


def test_a_notebook_of_vs_code_is_known_by_the_name_of_its_file(shell) -> None:
    assert not has_no_board(shell)
    shell.user_ns["__vsc_ipynb_file__"] = "/a.ipynb"
    try:
        assert has_no_board(shell)
    finally:
        del shell.user_ns["__vsc_ipynb_file__"]
