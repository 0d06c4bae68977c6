"""The command line on programs that have host functions and compiled ones."""

from __future__ import annotations

import pytest

BOTH = """\
func.func private @printI64(i64)
func.func @main() -> i32 {
  %x = tfrt.constant.i32 20
  %y = tfrt.call @twice(%x) : (i32) -> i32
  %z = tfrt.jit (%y as %a: i32) -> i32 {
    %two = arith.constant 2 : i32
    %b = arith.addi %a, %two : i32
    tfrt.return %b : i32
  }
  tfrt.return %z : i32
}
async.func private @twice(%x: i32) -> !async.value<i32> {
  %seven = arith.constant 7 : i64
  %t, %v = async.execute -> !async.value<i32> {
    func.call @printI64(%seven) : (i64) -> ()
    %y = arith.addi %x, %x : i32
    async.yield %y : i32
  }
  %r = await %v : !async.value<i32>
  return %r : i32
}
"""
OUTPUT = "--- Running 'main':\n7'main' returned 42\n"


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_program_of_both_kinds_runs(shell, queue: str) -> None:
    outcome = shell("run", "--work-queue", queue, shell.write("both.mlir", BOTH))

    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, OUTPUT, "")


def test_so_does_its_file_and_the_text_that_the_file_turns_back_into(shell) -> None:
    translated = shell("mlir-to-bef", shell.write("both.mlir", BOTH), "-o", "both.bef")
    from_file = shell("run", "both.bef")
    text = shell("bef-to-mlir", "both.bef")
    from_text = shell("run", shell.write("again.mlir", text.stdout))

    assert (translated.status, text.status) == (0, 0)
    assert (from_file.stdout, from_text.stdout) == (OUTPUT, OUTPUT)


FAILING = """\
func.func @main() -> i32 {
  %x = tfrt.constant.i32 0
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    %b = arith.divsi %a, %a : i32 // expected-error {{division by zero}}
    tfrt.return %b : i32
  }
  tfrt.return %y : i32
}
"""


UNEXPECTED = FAILING.partition(" // expected")[0] + FAILING.partition("}}")[2]


def test_an_error_points_into_the_compiled_part(shell) -> None:
    outcome = shell("run", shell.write("failing.mlir", UNEXPECTED))

    assert outcome.status == 1
    assert outcome.stdout == "--- Running 'main':\n'main' returned <<error: division by zero>>\n"
    assert outcome.stderr.startswith("failing.mlir:4:10: error: ")
    assert "%b = arith.divsi %a, %a : i32" in outcome.stderr


def test_a_file_knows_the_places_of_its_text(shell) -> None:
    shell("mlir-to-bef", shell.write("failing.mlir", UNEXPECTED), "-o", "failing.bef")
    outcome = shell("run", "failing.bef")

    assert outcome.status == 1
    assert outcome.stderr.startswith("failing.mlir:4:10: error: ")


def test_an_error_may_be_expected_there(shell) -> None:
    outcome = shell("run", shell.write("failing.mlir", FAILING))

    assert (outcome.status, outcome.stderr) == (0, "")


def test_options_for_parallel_loops_stay_with_a_file(shell) -> None:
    options = "// parallel-for: num-workers=2 min-task-size=1\n"
    shell("mlir-to-bef", shell.write("both.mlir", options + BOTH), "-o", "both.bef")
    text = shell("bef-to-mlir", "both.bef")

    assert text.stdout.startswith(options)
    assert shell("run", "both.bef").stdout == OUTPUT


def test_a_stage_of_the_compiled_part_can_be_seen(shell) -> None:
    outcome = shell("run", "--emit", "async-runtime", shell.write("both.mlir", BOTH))

    assert outcome.status == 0
    assert "func.func private @main_jit(" in outcome.stdout
    assert "tfrt.call" not in outcome.stdout
