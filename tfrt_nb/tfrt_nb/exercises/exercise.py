"""Exercises: the decorator, the registry, and the grading of answers and notebooks."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from tfrt_nb.exercises.answer import Answer, Code, Names, Wrong, shown_form
from tfrt_runtime.diagnostics import TfrtError, error, meant
from tfrt_runtime.hooks import HOOKS

_CHECK = re.compile(r"\A\s*%%tfrt_check[ \t]+(\S+)[ \t]*\n(.*)\Z", re.DOTALL)
"""Matches the cell of an answer."""


class Mark(StrEnum):
    """Whether an answer is right, wrong, or still missing."""

    RIGHT = "right"
    WRONG = "not yet"
    EMPTY = "no answer yet"


@dataclass(frozen=True)
class Verdict:
    """The response to an answer: the exercise, the mark, and a hint."""

    exercise: Exercise
    mark: Mark
    hint: str

    @property
    def is_right(self) -> bool:
        return self.mark is Mark.RIGHT


@dataclass(frozen=True)
class Exercise:
    """A question whose answers are checked.

    - `check` returns None for a right answer. For a wrong answer, it returns a hint or raises
      `Wrong`.
    - `right` contains right answers. The first one is shown as the solution.
    - `wrong` maps typical wrong answers to a part of the hint that each must get.
    - `why` explains the right answer. `start` is the initial text of the learner's cell.
    - `form` is an example of an `Answer` that the task and the hints show. It must not be a right
      answer.
    """

    name: str
    task: str
    kind: type[Answer | Code | Names]
    check: Callable[[Any], str | None]
    right: tuple[str, ...]
    wrong: Mapping[str, str]
    why: str
    start: str
    form: str

    @property
    def solution(self) -> str:
        return self.right[0]

    def grade(self, text: str, names: Mapping[str, object] | None = None) -> Verdict:
        """Return the verdict on an answer. The method never raises, even for unreadable text.

        `names` contains the names that an answer in Python may use. If it is a dictionary, the
        names that the answer defines are added to it.
        """
        plain = _plain(text)
        if plain in ("", "?"):
            return Verdict(self, Mark.EMPTY, "Write your answer in place of the question mark.")
        if plain == _plain(self.start):
            return Verdict(self, Mark.EMPTY, "This is the original program.  Change it.")
        hint = self._hint(text, names)
        if hint is None:
            return Verdict(self, Mark.RIGHT, self.why)
        # A shorter answer may match other exercises by chance.
        others = exercises() if len(plain) >= 40 else ()
        for other in others:
            if other is not self and plain in other._solutions:
                text = (
                    f"This answer solves {other.name!r}, but this exercise asks a different"
                    " question."
                )
                return Verdict(self, Mark.WRONG, f"{text}\n{hint}")
        return Verdict(self, Mark.WRONG, hint)

    def problems(self) -> list[str]:
        """Return the faults of the exercise itself.

        For example, the exercise may reject a right answer, or give a wrong answer a different
        hint.
        """
        found = [
            f"{self.name}: rejects the right answer {text!r}: {verdict.hint}"
            for text in self.right
            if not (verdict := self.grade(text)).is_right
        ]
        for text, part in {self.form: "", **self.wrong}.items():
            verdict = self.grade(text)
            if verdict.is_right:
                found.append(f"{self.name}: accepts the wrong answer {text!r}")
            elif part not in verdict.hint:
                found.append(
                    f"{self.name}: {text!r} gets the hint {verdict.hint!r}, without {part!r}"
                )
        if len(self.wrong) < 3:
            found.append(
                f"{self.name}: has {len(self.wrong)} wrong answers; it needs three or more"
            )
        return found

    def _hint(self, text: str, names: Mapping[str, object] | None) -> str | None:
        try:
            submission: Answer | Code | Names
            if self.kind is Names:
                submission = Names.of(text, _python_names() if names is None else names)
                if isinstance(names, dict):
                    names.update(submission.names)
            else:
                submission = Code(text) if self.kind is Code else Answer(text, self.form)
            hint = self.check(submission)
            if hint is None or isinstance(hint, str):
                return hint
            return (
                f"The check returned {hint!r}; it must return None for a right answer, or a hint (a"
                " string) for a wrong one."
            )
        except Wrong as hint:
            return str(hint)
        except TfrtError as problem:
            return str(problem)
        except SystemExit:
            return "The answer exits Python.  Do not call exit()."
        except Exception as problem:  # noqa: BLE001  # an answer that the check did not expect
            return f"The answer could not be checked ({type(problem).__name__}: {problem})."

    @cached_property
    def _solutions(self) -> frozenset[str]:
        return frozenset(map(_plain, self.right))


_exercises: dict[str, Exercise] = {}


def exercise(
    name: str,
    *,
    right: str | tuple[str, ...],
    wrong: Mapping[str, str],
    why: str,
    start: str = "",
    form: str = "",
) -> Callable[[Callable[[Any], str | None]], Exercise]:
    """Create an exercise from a function that checks an answer.

    The function takes an `Answer`, `Code`, or `Names`, as its annotation says, and returns None or
    a hint. Its docstring is the task. `form`, an incorrect example of an `Answer`, is appended to
    the task. Running the cell again replaces its exercise.

    Raises:
        TfrtError: if another module has an exercise of that name, or the function cannot check an
            answer.
    """

    def make(check: Callable[[Any], str | None]) -> Exercise:
        known = _exercises.get(name)
        if known is not None and known.check.__module__ != check.__module__:
            raise _refused(
                f"module {known.check.__module__} already defines exercise {name!r}: choose another"
                " name"
            )
        parameters = list(inspect.signature(check).parameters)
        kinds = get_type_hints(check, localns={"Answer": Answer, "Code": Code, "Names": Names})
        kind = kinds.get(parameters[0]) if len(parameters) == 1 else None
        if kind not in (Answer, Code, Names):
            raise _refused(f"exercise {name!r} takes one argument: an Answer, Code or Names")
        if not check.__doc__:
            raise _refused(f"exercise {name!r} has no task; write it as the docstring")
        made = _exercises[name] = Exercise(
            name=name,
            task=f"{inspect.cleandoc(check.__doc__)}\n\n{shown_form(form)}".rstrip(),
            kind=kind,
            check=check,
            right=tuple(map(_dedented, (right,) if isinstance(right, str) else right)),
            wrong={_dedented(text): hint for text, hint in wrong.items()},
            why=" ".join(why.split()),
            start=_dedented(start),
            form=form,
        )
        return made

    return make


def exercises() -> list[Exercise]:
    """Return all exercises. Those of the tutorials come first."""
    for load in HOOKS.courses:
        load()
    return list(_exercises.values())


def find(name: str) -> Exercise:
    """Return the exercise called `name`.

    Raises:
        TfrtError: if no exercise has that name. The message suggests the most similar name.
    """
    known = {one.name: one for one in exercises()}
    if name in known:
        return known[name]
    hint = meant(name, known, form="'{}'", cutoff=0.4)
    raise _refused(f"no exercise is called {name!r}; {hint}".removesuffix("; "))


def grade(name: str, text: str) -> Verdict:
    """Grade an answer to the exercise `name`; for tests of a course's exercises.

    An answer in Python sees tfrt, np, asyncio, time, and its own names, but not the names of other
    cells.

    Raises:
        TfrtError: if no exercise has that name.
    """
    return find(name).grade(text)


def _python_names() -> dict[str, object]:
    """Return the names that an answer in Python may use outside a notebook."""
    modules = {"tfrt": "tfrt_nb", "np": "numpy", "asyncio": "asyncio", "time": "time"}
    return {name: import_module(module) for name, module in modules.items()}


def _dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n").rstrip()


def _plain(text: str) -> str:
    """Return the text without comments and extra spaces.

    Two answers count as equal if this function returns the same text for both.
    """
    # A `#` without a space after it may start an attribute of MLIR, such as `#map`.
    rows = (re.sub(r"(^|\s)(//|#\s).*", "", row) for row in text.splitlines())
    return " ".join(" ".join(rows).split())


def _refused(text: str) -> TfrtError:
    return TfrtError(error(text))


def answers_of(path: str | Path) -> dict[str, str]:
    """Return the answers in a notebook, by exercise.

    If an exercise has several answers, the last one counts.

    Raises:
        TfrtError: if the file is not a notebook.
        OSError: if the file cannot be read.
    """
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        sources = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        lacks = "JSON" if isinstance(problem, ValueError) else "list of cells with sources"
        raise TfrtError(error(f"{path} is not a notebook: it has no {lacks}")) from None
    return {found[1]: found[2] for found in map(_CHECK.match, sources) if found}


@dataclass(frozen=True)
class Progress:
    """A learner's progress in one notebook.

    `minutes` is the author's estimate of how long the notebook takes.
    """

    title: str
    minutes: str
    right: int
    exercises: int


def progress_in(folder: str | Path) -> list[Progress]:
    """Return the progress in each notebook with exercises in a folder, sorted by file name.

    Raises:
        TfrtError: if a file is not a notebook, or answers an exercise that does not exist.
        OSError: if the folder or a file cannot be read.
    """
    found = []
    for path in sorted(one for one in Path(folder).iterdir() if one.suffix == ".ipynb"):
        if not (verdicts := [grade(*answer) for answer in answers_of(path).items()]):
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
