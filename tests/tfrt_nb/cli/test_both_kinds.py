"""The files of programs that have host functions and compiled ones."""

from __future__ import annotations

from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "programs" / "run" / "compiled" / "both_kinds.mlir"
BOTH = PROGRAM.read_text()
OUTPUT = PROGRAM.with_suffix(".out").read_text().partition("both_kinds.mlir:")[0]


def test_a_file_and_the_text_that_it_turns_back_into_print_the_same_and_know_the_places(
    shell,
) -> None:
    translated = shell("mlir-to-bef", shell.write("both_kinds.mlir", BOTH), "-o", "both.bef")
    from_file = shell("run", "both.bef")
    text = shell("bef-to-mlir", "both.bef")
    from_text = shell("run", shell.write("again.mlir", text.stdout))

    assert (translated.status, text.status) == (0, 0)
    assert (from_file.stdout, from_text.stdout) == (OUTPUT, OUTPUT)
    assert "both_kinds.mlir:35:10: error: " in from_file.stderr


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
