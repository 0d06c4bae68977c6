"""Test the options after `%%tfrt`."""

from __future__ import annotations

import pytest

from tfrt_magics.options import OptionError, RunOptions, help_text, parse_options


def test_an_empty_line_runs_everything_with_the_defaults() -> None:
    assert parse_options("") == RunOptions()


@pytest.mark.parametrize(
    "line",
    [
        "-o total -q mstd:4,16 -f main -t 2.5 --no-wait",
        "--output total --work-queue mstd:4,16 --function @main --timeout 2.5 --no-wait",
        "--no-wait --timeout=2.5 --function=main --work-queue=mstd:4,16 --output=total",
    ],
)
def test_every_spelling_means_the_same(line: str) -> None:
    assert parse_options(line) == RunOptions(("total",), "mstd:4,16", "main", 2.5, wait=False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--work-que s", "%%tfrt: unknown option --work-que; did you mean --work-queue?"),
        ("--timout=3", "%%tfrt: unknown option --timout=3; did you mean --timeout?"),
        (
            "--zzz",
            (
                "%%tfrt: unknown option --zzz; the options are --in, --as, --with, -o, --output, "
                "-q, "
                "--work-queue, --host, -f, --function, -t, --timeout, --memory, --no-wait, "
                "--expect-error, --parallel-for, -O, --emit, --explore, --slow, --step, --help"
            ),
        ),
        ("main", "%%tfrt: unexpected 'main'; the program starts on the line below"),
        ("--in x=n + 1", '%%tfrt: the spaces need quotes: write --in "x=n + 1"'),
        ("--in y=2 --in x = 4 -q s", '%%tfrt: the spaces need quotes: write --in "x=4"'),
        ("--in=x=n -1", '%%tfrt: the spaces need quotes: write --in "x=n -1"'),
        ("--in x=f('a', 2)", "%%tfrt: the spaces need quotes: write --in \"x=f('a', 2)\""),
        ('--in x=f("a", 2)', "%%tfrt: the spaces need quotes: write --in 'x=f(\"a\", 2)'"),
        ("-o p,q -o r", "%%tfrt: -o can be given only once, found p,q and r"),
        ("-o p -o q", "%%tfrt: -o can be given only once, found p and q"),
        ("-o 2x", "%%tfrt: argument -o/--output: '2x' is not a Python name"),
        ("-o for", "%%tfrt: argument -o/--output: 'for' is not a Python name"),
        ("-o", "%%tfrt: argument -o/--output: expected one argument"),
        (
            "-t soon",
            "%%tfrt: argument -t/--timeout: 'soon' is not a number of seconds above 0",
        ),
        ("-t nan", "%%tfrt: argument -t/--timeout: 'nan' is not a number of seconds above 0"),
        ("-t=-1", "%%tfrt: argument -t/--timeout: '-1' is not a number of seconds above 0"),
        (
            "-q mstd:0",
            (
                "%%tfrt: argument -q/--work-queue: work queue 'mstd:0': "
                "threads must be 1 to 1024, not 0"
            ),
        ),
        ("'open", "%%tfrt: No closing quotation"),
        ("--no-wait=3", "%%tfrt: argument --no-wait: takes no value, found '3'"),
        ("--step --explore", "%%tfrt: --explore and --step exclude each other"),
        ("--no-wait --step", "%%tfrt: --step and --no-wait exclude each other"),
        ("--explore --no-wait", "%%tfrt: --explore and --no-wait exclude each other"),
        ("--explore --emit bef", "%%tfrt: --emit and --explore exclude each other"),
        ("--expect-error --no-wait", "%%tfrt: --expect-error and --no-wait exclude each other"),
        ("--explore --expect-error", "%%tfrt: --expect-error and --explore exclude each other"),
        ("--explore -o x", "%%tfrt: --explore shows outcomes and returns no results for --output"),
        ("", "%tfrt: expected a file, .mlir or .bef; %%tfrt runs the lines below it"),
        ("''", "%tfrt: expected a file, .mlir or .bef; %%tfrt runs the lines below it"),
        (
            "func.func @main() { tfrt.return }",
            "%tfrt runs a file; to run a program from a cell, start the cell with %%tfrt",
        ),
        ("a.mlir b.mlir", "%tfrt: unexpected 'b.mlir'; one file at a time"),
        ("a.mlir --as 2", "%tfrt: argument --as: '2' is not a Python name"),
        ("a.mlir --with b,", "%tfrt: argument --with: '' is not a Python name"),
        ("a.mlir --functoin b", "%tfrt: unknown option --functoin; did you mean --function?"),
    ],
)
def test_a_mistake_is_refused_in_one_line(line: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_options(line, of_file=not message.startswith("%%"))
    assert str(caught.value) == message


def test_a_stage_that_is_nearly_right_is_named() -> None:
    with pytest.raises(OptionError, match="--emit: invalid choice: .*; did you mean coroutine\\?$"):
        parse_options("--emit corutine")


def test_a_line_that_would_take_minutes_to_split_is_refused_at_once() -> None:
    with pytest.raises(OptionError, match="the line has 1000002 characters; the maximum is 10000"):
        parse_options("--" + "A" * 1_000_000)


def test_inputs_and_programs_may_be_several() -> None:
    options = parse_options("--in x --in 'y=a b' --with one,two --with three --as kept")
    assert options.inputs == ("x", "y=a b")
    assert (options.libraries, options.name) == (("one", "two", "three"), "kept")


def test_a_file_comes_before_or_behind_its_options() -> None:
    for line in ("'a b.mlir' -o x", "-o x 'a b.mlir'"):
        assert parse_options(line, of_file=True) == RunOptions(("x",), file="a b.mlir")


def test_help_has_every_option_and_the_examples() -> None:
    shown = help_text()
    assert "--in NAME=EXPRESSION" in shown
    assert "%%tfrt --with shop" in shown


def test_a_factor_is_a_number_above_0():
    assert parse_options("--slow 2.5").slow == 2.5
    for wrong in ("often", "-2", "0", "nan", "inf"):
        with pytest.raises(OptionError, match=f"--slow.*{wrong}"):
            parse_options(f"--slow {wrong}")
