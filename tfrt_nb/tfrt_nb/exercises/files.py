"""The answers in a notebook file, graded: for a course, without a kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tfrt_nb.exercises.exercise import Verdict, grade
from tfrt_runtime.diagnostics import TfrtError, error

_CHECK = re.compile(r"\A\s*%%tfrt_check[ \t]+(\S+)[ \t]*\n(.*)\Z", re.DOTALL)


def answers_of(path: str | Path) -> dict[str, str]:
    """The answers in a notebook by exercise; of several to one exercise, the last.

    Raises:
        TfrtError: if the file is no notebook.
        OSError: if it cannot be read.
    """
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        sources = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as problem:
        raise TfrtError(error(f"{path} is not a notebook: {problem!r}")) from None
    found = (_CHECK.match(source) for source in sources)
    return {one[1]: one[2] for one in found if one}


def grade_notebook(path: str | Path) -> list[Verdict]:
    """The verdicts about the answers in a notebook, in its order.

    An answer in Python sees tfrt, np and its own names, not those of other cells.

    Raises:
        TfrtError: if the file is no notebook, or answers an exercise that does not exist.
        OSError: if it cannot be read.
    """
    return [grade(name, text) for name, text in answers_of(path).items()]
