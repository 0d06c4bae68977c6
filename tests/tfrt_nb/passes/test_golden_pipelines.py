"""What `tfrt-nb opt` makes of a program by the passes that its first line names: MLIR's own outputs, and ours, to the letter."""

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
