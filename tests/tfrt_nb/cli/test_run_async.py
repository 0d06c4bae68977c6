"""Test `tfrt-nb run` on async programs: the corpus, our own, and users' mistakes."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tfrt_runtime.host.queues.threads import start_thread

GOLDEN = Path(__file__).parents[2] / "golden" / "async"
OWN = Path(__file__).parent / "async_programs"
SLOW = 120
"""Many more seconds than any step here takes."""


def expected(path: Path) -> Path | None:
    """Return the file with a program's output if the program is meant to be run."""
    plain = path.with_name(path.name.replace(".landed", ""))
    for ending in (".stdout", ".expected"):
        if plain.with_suffix(ending).exists():
            return plain.with_suffix(ending)
    return None


PROGRAMS = [
    path for path in sorted([*GOLDEN.glob("*/*.mlir"), *OWN.glob("*.mlir")]) if expected(path)
]
WRONG = sorted(GOLDEN.glob("programs/err_*.mlir"))


def stem(path: Path) -> str:
    return path.stem


def test_the_corpus_is_there() -> None:
    assert (len(PROGRAMS) > 60, len(WRONG)) == (True, 7)


@pytest.mark.parametrize("checks", ["--check-references", "--no-check-references"])
@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("path", PROGRAMS, ids=stem)
def test_a_program_prints_what_it_should(shell, path: Path, queue: str, checks: str) -> None:
    program = shell.write(path.name, path.read_bytes())
    wanted = expected(path)
    assert wanted is not None
    diagnostic = path.with_suffix(".diag")

    outcome = shell("run", program, checks, "--work-queue", queue, "--timeout", str(SLOW))

    assert outcome.stdout == wanted.read_text()
    assert (outcome.status, bool(outcome.stderr)) == (int(diagnostic.exists()),) * 2
    if diagnostic.exists():
        [first, *_] = outcome.stderr.splitlines()
        for part in diagnostic.read_text().split("\n"):
            assert (f"{path.name}:{part}:" if part.isdigit() else part) in first


@pytest.mark.parametrize("command", ["opt", "run"])
@pytest.mark.parametrize("path", WRONG, ids=stem)
def test_a_wrong_program_is_told_so(shell, path: Path, command: str) -> None:
    if path.stem == "err_count_high_level" and command == "run":
        return  # only its pass rejects it
    outcome = shell(command, shell.write(path.name, path.read_bytes()))
    lines = outcome.stderr.splitlines()
    found = [line for line in lines if re.match(r"\S+:\d+:\d+: error: ", line)]
    # If our own sentence comes first, MLIR's words are a note at the same place.
    noted = [line.replace(": note: ", ": error: ", 1) for line in lines]
    texts = [path.with_suffix(ending) for ending in (".error", ".error22")]
    recorded = [text.read_text().splitlines() for text in texts if text.exists()]

    assert (outcome.status, outcome.stdout) == (1, "")
    assert any(
        [_place(line) for line in found] == [_place(line) for line in one]
        and all(line in found or line in noted for line in one)
        for one in recorded
    )


def _place(line: str) -> str:
    return line.partition(": error: ")[0]


LOWERED = "builtin.module(async-func-to-async-runtime,async-to-async-runtime)"


@pytest.mark.parametrize("passes", [LOWERED, "builtin.module(canonicalize)"])
@pytest.mark.parametrize(
    "name", ["afunc_fib", "chain_1000", "exec_basics", "error_nested", "par_1d"]
)
def test_what_opt_prints_runs_as_well(shell, name: str, passes: str) -> None:
    path = GOLDEN / "programs" / f"{name}.mlir"
    if name == "par_1d":
        passes = passes.replace("(", "(async-parallel-for{num-workers=2 min-task-size=4},")
    lowered = shell("opt", shell.write("f.mlir", path.read_bytes()), "-p", passes)
    outcome = shell("run", shell.write("g.mlir", lowered.stdout), "--work-queue", "mstd:2")

    assert (lowered.status, lowered.stderr) == (0, "")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (
        0,
        path.with_suffix(".stdout").read_text(),
        "",
    )


RESULTS = """
func.func @main() -> (i64, f64, i1, memref<2xi32>) {
  %a = arith.constant -42 : i64
  %b = arith.constant 1.25 : f64
  %c = arith.constant true
  %m = memref.get_global @pair : memref<2xi32>
  return %a, %b, %c, %m : i64, f64, i1, memref<2xi32>
}
memref.global "private" @pair : memref<2xi32> = dense<[3, 4]>
async.func @later() -> (!async.token, !async.value<i64>) {
  %a = arith.constant 7 : i64
  return %a : i64
}
func.func @takes(%a: i64) { return }
func.func private @hidden() { return }
"""


@pytest.mark.parametrize(
    ("options", "output"),
    [
        ([], "'main' returned -42,1.25,true,[3 4]\n"),
        (["--function", "later"], "'later' returned token,7\n"),
        (["--function", "@later"], "'later' returned token,7\n"),
    ],
)
def test_results_are_printed(shell, options: list[str], output: str) -> None:
    outcome = shell("run", shell.write("f.mlir", RESULTS), *options)

    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, output, "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("takes", "@takes takes 1 argument (i64), found 0"),
        ("hidden", "there is no function @hidden; defined functions: @main, @later, @takes"),
        ("nothing", "there is no function @nothing; defined functions: @main, @later, @takes"),
    ],
)
def test_a_function_that_cannot_run_is_an_error(shell, name: str, message: str) -> None:
    outcome = shell("run", shell.write("f.mlir", RESULTS), "--function", name)

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr == f"tfrt-nb: error: {message}\n"


@pytest.mark.parametrize("options", [[], ["--explore"], ["--tier", "interpreter"]])
def test_a_wrong_argument_is_an_error_without_a_place(shell, options: list[str]) -> None:
    outcome = shell("run", shell.write("f.mlir", RESULTS), "7.5", "--function", "takes", *options)

    assert outcome.status == 1
    assert outcome.stderr == "tfrt-nb: error: argument 1 (%a) of @takes: expected i64, found 7.5\n"


def test_a_loop_that_is_stopped_is_shown(shell) -> None:
    text = """func.func @main() {
  cf.br ^again
^again:
  cf.br ^again
}
"""
    outcome = shell("run", shell.write("f.mlir", text), "--timeout", "0.1")

    assert (outcome.status, outcome.stdout) == (1, "")
    lines = outcome.stderr.splitlines()
    assert lines[0] == "f.mlir:1:1: error: @main did not finish within 0.1 s and was cancelled"
    assert "f.mlir:4:3: note: it had reached this line" in lines


LEAK = """func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  return
}
"""


def test_without_checks_they_are_only_counted(leaky_shell) -> None:
    outcome = leaky_shell("run", leaky_shell.write("f.mlir", LEAK), "--no-check-references")

    assert outcome.status == 1
    assert outcome.stderr == (
        "tfrt-nb: error: 1 object is left over; run with --check-references to see which\n"
    )


@pytest.mark.parametrize("ending", ["late", "followed", "in a terminal"])
def test_results_that_are_held_elsewhere_are_not_left_over(
    shell, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    def start_late_one(name: str, target: Callable[[], None]) -> threading.Thread:
        # On a busy machine, the system may stop the thread just before it exits.
        return start_thread(name, lambda: (target(), time.sleep(0.3)))

    if ending == "late":
        monkeypatch.setattr("tfrt_nb.cli.running.run_compiled.start_thread", start_late_one)
    if ending == "in a terminal":
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((80, 24)))
    text = "func.func @main() -> i64 {\n  %x = arith.constant 42 : i64\n  return %x : i64\n}\n"
    trace = ("--trace", "trace.json") if ending == "followed" else ()
    outcome = shell("run", shell.write("f.mlir", text), *trace)

    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, "'main' returned 42\n", "")


STAGES = {
    "async-runtime": "async.runtime.await_and_resume",
    "coroutine": "call token @llvm.coro.id(",
    "llvm": "call token @llvm.coro.id(",
    "llvm-split": "@async_execute_fn.resume(",
    "asm": "main:",
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_shown_instead_of_running(shell, stage: str) -> None:
    path = GOLDEN / "programs" / "nest_four.mlir"
    outcome = shell("run", shell.write("f.mlir", path.read_bytes()), "--emit", stage)

    assert (outcome.status, outcome.stderr) == (0, "")
    assert STAGES[stage] in outcome.stdout
    assert ("llvm.coro.suspend" in outcome.stdout) is (stage in ("coroutine", "llvm"))


def test_parallel_loops_are_split_when_asked(shell) -> None:
    path = GOLDEN / "programs" / "par_1d.mlir"
    program = shell.write("f.mlir", path.read_text().partition("\n")[2])
    whole = shell("run", program, "--emit", "async-runtime").stdout
    split = shell(
        "run", program, "--emit", "async-runtime", "--parallel-for", "num-workers=2"
    ).stdout

    assert ("parallel_compute_fn" in whole, "parallel_compute_fn" in split) == (False, True)
    assert shell("run", program, "--parallel-for", "min-task-size=1").stdout == (
        path.with_suffix(".stdout").read_text()
    )


def test_a_wrong_option_for_parallel_loops_is_an_error(shell) -> None:
    outcome = shell("run", shell.write("f.mlir", LEAK), "--parallel-for", "speed=9")

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("tfrt-nb: error: parallel-for options 'speed=9': ")
