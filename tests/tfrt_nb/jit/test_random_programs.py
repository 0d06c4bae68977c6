"""Random programs do the same, compiled and on the interpreter, on every queue.

`random_programs/run.py` compares as many of them as one has time for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parent / "random_programs" / "run.py"


def test_random_programs_are_alike() -> None:
    done = subprocess.run(
        [sys.executable, RUN, "0", "20"], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("20 of 20 programs are alike\n", 0), done.stderr
