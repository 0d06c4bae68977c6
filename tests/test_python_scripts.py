"""Scripts as users write them: each `python_scripts/NAME.py` prints `NAME.out`, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parent / "python_scripts").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_it_should(script: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, script],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ended.stdout == script.with_suffix(".out").read_text()
    assert (ended.returncode, ended.stderr) == (0, "")
