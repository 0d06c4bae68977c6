"""Run scripts as users write them: `python_scripts/NAME.py` must print exactly `NAME.out`.

The examples are run as well. Comments in a script's first lines say what standard error contains:
`# stderr: TEXT` means that TEXT occurs, and `# stderr max N: TEXT` that it occurs in at most N
lines.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "python_scripts").glob("*.py"))
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))


def run(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in its own process, which works in a folder."""
    return subprocess.run(
        [sys.executable, script],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_should_and_is_short(example: Path, tmp_path: Path) -> None:
    ended = run(example, tmp_path)

    assert (ended.returncode, ended.stderr) == (0, "")
    # Lines that kernels print come from other threads.
    expected = (HERE / "example_outputs" / f"{example.stem}.txt").read_text()
    assert sorted(ended.stdout.splitlines()) == sorted(expected.splitlines())
    assert len(example.read_text().splitlines()) < 60


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_it_should(script: Path, tmp_path: Path) -> None:
    ended = run(script, tmp_path)

    assert ended.stdout == script.with_suffix(".out").read_text(), ended.stderr
    assert (ended.returncode, wrong_errors(script, ended.stderr)) == (0, "")


def wrong_errors(script: Path, errors: str) -> str:
    """Return what is wrong with standard error, or ""."""
    head = "\n".join(script.read_text().splitlines()[:10])
    wanted = re.findall(r"^# stderr: (.+)$", head, re.MULTILINE)
    limits = re.findall(r"^# stderr max (\d+): (.+)$", head, re.MULTILINE)
    if not wanted and not limits:
        return errors
    lines = errors.splitlines()
    missing = [f"misses {text!r}" for text in wanted if text not in errors]
    often = [f"has too many {t!r}" for n, t in limits if sum(t in one for one in lines) > int(n)]
    return "; ".join(missing + often)
