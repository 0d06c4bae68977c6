"""Test `tfrt-nb bench`: its measurements, and its messages about unsuitable programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TWO = """func.func @first() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}
func.func @second() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %two = tfrt.constant.i32 2
  %printed = tfrt.print.i32 %two, %ch
  tfrt.return %printed : !tfrt.chain
}
"""
DIVIDE = """func.func @main(%by: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %share, %rest = tfrt.div.i32 %six, %by
  tfrt.return %share : i32
}
"""
COMPILED = """func.func @main(%n: i64) -> i64 {
  %token, %value = async.execute -> !async.value<i64> {
    async.yield %n : i64
  }
  %one = async.await %value : !async.value<i64>
  return %one : i64
}
"""
HEADINGS = ["function", "runs", "first", "least", "median", "99 %", "processor", "tier"]

Bench = Callable[..., tuple[int, list[list[str]], str]]


@pytest.fixture
def bench(on_text: Callable[..., tuple[int, str, str]]) -> Bench:
    """A function: `bench(text, *arguments)` returns status, cells, and standard error.

    The cells are those of each line after the first.
    """

    def call(text: str, *arguments: str) -> tuple[int, list[list[str]], str]:
        status, output, errors = on_text("bench", text, *arguments, "--seconds", "0.01")
        loaded, *lines = output.splitlines() or [""]
        assert not lines or loaded.startswith("f.mlir: loaded in ")
        cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines]
        return status, cells, errors

    return call


def test_each_function_without_arguments_has_a_row_and_prints_nothing(bench: Bench) -> None:
    status, (headings, *rows), errors = bench(TWO)

    assert (status, headings, errors) == (0, HEADINGS, "")
    assert [(row[0], int(row[1]) > 0, row[-1]) for row in rows] == [
        ("@first", True, "interpreter"),
        ("@second", True, "interpreter"),
    ]


def test_a_compiled_function_is_measured_with_its_arguments(bench: Bench) -> None:
    status, (_, row), errors = bench(COMPILED, "7", "-q", "mstd:2")

    assert (status, row[0], row[-1], errors) == (0, "@main", "compiled", "")


def test_the_tier_that_was_asked_for_is_measured(bench: Bench) -> None:
    tiers = [bench(DIVIDE, "2", "--tier", tier)[1][-1][-1] for tier in ("interpreter", "compiled")]

    assert tiers == ["interpreter", "compiled"]


def test_a_run_that_ends_with_an_error_ends_the_measurement_with_its_place(bench: Bench) -> None:
    status, rows, errors = bench(DIVIDE, "0")

    assert (status, rows) == (1, [])
    assert errors.startswith("f.mlir:3:19: error: Divide by zero\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DIVIDE, "there is no function to measure: every function takes arguments"),
        ("", "there is no function"),
    ],
)
def test_a_program_of_which_nothing_runs_is_not_measured(
    bench: Bench, text: str, reason: str
) -> None:
    assert bench(text) == (1, [], f"tfrt-nb: error: {reason}\n")
