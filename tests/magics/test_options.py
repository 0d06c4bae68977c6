"""The line after `%%tfrt`."""

from __future__ import annotations

import pytest

from tfrt_magics.options import OptionError, RunOptions, parse_options


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
    assert parse_options(line) == RunOptions("total", "mstd:4,16", "main", 2.5, wait=False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--work-que s", "%%tfrt: unknown option --work-que; did you mean --work-queue?"),
        ("--timout=3", "%%tfrt: unknown option --timout=3; did you mean --timeout?"),
        (
            "--zzz",
            (
                "%%tfrt: unknown option --zzz; known are -o, --output, -q, --work-queue, "
                "-f, --function, -t, --timeout, --memory, --no-wait, "
                "--parallel-for, --emit"
            ),
        ),
        ("main", "%%tfrt: unexpected 'main'; the program starts on the line below"),
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
    ],
)
def test_a_mistake_is_refused_in_one_line(line: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_options(line)
    assert str(caught.value) == message
