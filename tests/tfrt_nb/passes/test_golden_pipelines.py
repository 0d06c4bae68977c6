"""Test the output of `tfrt-nb opt` for the passes that a program's first line names.

It must match MLIR's own output, or ours, exactly.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.cli.main import main

PROGRAMS = Path(__file__).parents[2] / "golden" / "async" / "programs"
OUR_PROGRAMS = Path(__file__).parent / "programs"
CASES = sorted([*PROGRAMS.glob("*.out"), *OUR_PROGRAMS.glob("*.out")])


@pytest.mark.parametrize("expected", CASES, ids=lambda path: path.stem)
def test_the_pipeline_gives_the_expected_text(
    expected: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["opt", str(expected.with_suffix(".mlir"))])

    assert (status, capsys.readouterr().out.rstrip()) == (0, expected.read_text().rstrip())
