"""The answers in a notebook file, graded: for a course, without a kernel."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
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

    An answer in Python sees tfrt, np, asyncio, time and its own names, not those of other cells.

    Raises:
        TfrtError: if the file is no notebook, or answers an exercise that does not exist.
        OSError: if it cannot be read.
    """
    return [grade(name, text) for name, text in answers_of(path).items()]


@dataclass(frozen=True)
class Progress:
    """How far the answers in one notebook are; `minutes` is how long its author says it takes."""

    title: str
    minutes: str
    right: int
    exercises: int


def progress_in(folder: str | Path) -> list[Progress]:
    """The progress in each notebook of a folder that has exercises, by file name, as the files were saved.

    Raises:
        TfrtError: as `grade_notebook`.
        OSError: if the folder or a file cannot be read.
    """
    found = []
    for path in sorted(one for one in Path(folder).iterdir() if one.suffix == ".ipynb"):
        if not (verdicts := grade_notebook(path)):
            continue
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(one["source"]) for one in cells[:2])
        title = re.search(r"^# (.+)", text, re.MULTILINE)
        minutes = re.search(r"About (\d+) minutes", text)
        found.append(
            Progress(
                title[1] if title else path.stem,
                minutes[1] if minutes else "",
                sum(one.is_right for one in verdicts),
                len(verdicts),
            )
        )
    return found
