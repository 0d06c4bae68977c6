"""Test that code from MLIR's tools runs on our runtime.

This needs `mlir-opt` and `mlir-translate` of release 19 or newer, in the folder that MLIR_TOOLS
names, or on PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden" / "async"
RUN = Path(__file__).parent / "run_with_mlir.py"
PROGRAMS = sorted(path.with_suffix(".mlir") for path in GOLDEN.glob("programs/*.stdout"))
NOT_LOWERED_BY_MLIR = {"afunc_calls", "error_afunc"}
"""In release 19, these passes leave some conversions of coroutine ids behind."""


def tool(name: str) -> str:
    """Return the path of an MLIR tool, or skip the test."""
    found = shutil.which(name, path=os.environ.get("MLIR_TOOLS")) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on PATH, and MLIR_TOOLS names no folder with it")
    return found


@pytest.mark.parametrize(
    "program",
    [p for p in PROGRAMS if p.stem not in NOT_LOWERED_BY_MLIR],
    ids=lambda path: path.stem,
)
def test_their_code_runs_on_our_runtime(program: Path) -> None:
    command = [sys.executable, RUN, program, tool("mlir-opt"), tool("mlir-translate")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout == program.with_suffix(".stdout").read_text()
