"""No file ends the process: what loads also runs, or fails with a diagnostic, or is stopped in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tfrt_nb.program import Program

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
FILES = sorted(path for path in GOLDEN.glob("*.bef") if not path.name.startswith("malformed_"))
SCRIPT = Path(__file__).with_name("run_hostile_files.py")
CALLS = Path(__file__).with_name("run_hostile_calls.py")


def run_in_a_process(script: Path, *arguments: str | Path) -> None:
    """Run a script to its end: it must not die, and no callback of the native core may raise."""
    process = subprocess.run(
        [sys.executable, script, *arguments],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=100,
    )
    last = process.stdout.splitlines()[-1] if process.stdout else "nothing"

    assert process.returncode == 0, f"after {last}: {process.stderr[-2000:]}"
    assert last.startswith("done: ")
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("seed", ["one", "two"])
def test_files_with_a_wrong_byte_are_refused_or_run(seed: str) -> None:
    run_in_a_process(SCRIPT, seed, "100", *FILES)


@pytest.mark.parametrize("seed", ["one", "two"])
def test_sync_functions_with_a_wrong_byte_are_refused_or_run(seed: str, tmp_path: Path) -> None:
    text = Path(__file__).with_name("sync_functions.mlir").read_text()
    file = tmp_path / "sync.bef"
    file.write_bytes(Program.from_source(text, "sync.mlir").bef)
    run_in_a_process(SCRIPT, seed, "300", file)


@pytest.mark.parametrize("seed", ["one", "two"])
def test_every_kernel_takes_any_arguments_or_refuses_them(seed: str) -> None:
    run_in_a_process(CALLS, seed, "300")
