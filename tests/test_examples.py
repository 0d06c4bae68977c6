"""Each program in `examples/` prints what it should, and is short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_should(example: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, example],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    # Lines that kernels print come from other threads.
    expected = (HERE / "example_outputs" / f"{example.stem}.txt").read_text()
    assert sorted(ended.stdout.splitlines()) == sorted(expected.splitlines())
    assert len(example.read_text().splitlines()) < 60
