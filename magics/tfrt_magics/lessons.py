"""The magics of the tutorials: `%tfrt_predict`, `%%tfrt_check`, and `%tfrt_progress`."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.display import display

from tfrt_runtime.diagnostics import TfrtError

_SIGNS = {"right": "✓", "not yet": "✗", "no answer yet": "·"}
_COLORS = {"✓": "#009e73", "✗": "#d55e00", "·": "#777777"}
"""Green and vermilion from Okabe and Ito's palette, and gray. No reader needs the color."""


@dataclass(frozen=True)
class Note:
    """A short note below a cell: a verdict on an answer, or a prediction next to the outcome.

    `sign` is ✓, ✗, or ·. `folded` is a summary and the text that a click on it unfolds.
    """

    sign: str
    title: str
    text: str
    folded: tuple[str, str] | None = None

    def __repr__(self) -> str:
        lines = [
            f"{self.sign} {self.title}".rstrip(),
            *(f"  {row}" for row in self.text.split("\n")),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        color = _COLORS[self.sign]
        first, *rest = self.text.split("\n")
        body = html.escape(first)
        if rest:
            body += f"<pre style='margin:4px 0'>{html.escape(chr(10).join(rest))}</pre>"
        more = ""
        if self.folded is not None:
            summary, text = map(html.escape, self.folded)
            more = f"<details><summary>{summary}</summary><pre>{text}</pre></details>"
        title = html.escape(self.title)
        return (
            f"<div role='status' style='border-left:4px solid {color};padding:2px 10px'>"
            f"<b style='color:{color}'>{self.sign}</b> <b>{title}</b> {body}{more}</div>"
        )


@magics_class
class LessonMagics(Magics):
    """`%tfrt_predict`, `%%tfrt_check` and `%tfrt_progress`."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.prediction: Prediction | None = None
        self._marks: dict[str, str] = {}

    def after_cell(self, result: ExecutionResult) -> None:
        """Show the kept prediction below a Python cell.

        After a `%%tfrt` cell that did not run, keep the prediction for the next cell.
        """
        cell = result.info.raw_cell.lstrip() if result.info else ""
        # A comment may precede the magic, and automagic needs no percent sign.
        if not re.search(r"^(%?tfrt_predict|%%tfrt)\b", cell, re.MULTILINE):
            self.show_prediction()

    def show_prediction(self) -> None:
        """Show the kept prediction, which only the learner can judge, and discard it."""
        prediction, self.prediction = self.prediction, None
        if prediction is not None:
            show(Note("·", "Your prediction:", as_text(prediction).text))

    def compare_with(self, log: str, results: Sequence[object]) -> None:
        """Show the kept prediction next to the outcome of a run, and discard it."""
        prediction, self.prediction = self.prediction, None
        if prediction is not None:
            found = compare(prediction, log, results)
            sign = {True: "✓", False: "✗", None: "·"}[found.is_right]
            show(Note(sign, "Your prediction:", found.text))

    @no_var_expand
    @line_magic
    def tfrt_predict(self, line: str) -> None:
        """Record what you predict for the next `%%tfrt` cell, and compare it with what happens.

        `%tfrt_predict prints 3 1` predicts what the program prints, and `%tfrt_predict results 2
        error` predicts the results of its functions; any other text is shown next to the run.  `?`
        means "not yet".
        """
        prediction = self.prediction = read_prediction(line)
        if prediction.words:
            show(Note("·", "Kept.", "Now run the next cell."))
        else:
            show(
                Note(
                    "·", "Your prediction first.", "Replace the ? and run this cell, then the next."
                )
            )

    @no_var_expand
    @cell_magic
    def tfrt_check(self, line: str, cell: str) -> None:
        """Check the answer in this cell to an exercise: `%%tfrt_check NAME`.

        The answer is a Python value in the form that the task shows, a program, or Python code to
        run. A wrong answer gets a hint, and a solution that a click unfolds.
        """
        # Imported here because %load_ext must not load the compiler.
        from tfrt_nb.exercises.exercise import Mark, find

        if not line.strip():
            show(
                Note("·", "Which exercise?", "Write its name in the first line: %%tfrt_check NAME")
            )
            return
        try:
            asked = find(line.strip())
        except TfrtError as problem:
            show(Note("·", "%%tfrt_check:", problem.diagnostics[0].message))
            return
        try:
            verdict = asked.grade(cell, self._shell.user_ns)
        except KeyboardInterrupt:
            show(Note("·", "Interrupted.", "The answer was not checked."))
            return
        self._marks[asked.name] = verdict.mark
        solution = (
            None
            if verdict.mark is Mark.EMPTY
            else ("Show a solution", f"{asked.solution}\n\n{asked.why}")
        )
        show(Note(_SIGNS[verdict.mark], f"{asked.name}: {verdict.mark}.", verdict.hint, solution))

    @line_magic
    def tfrt_progress(self, line: str) -> None:
        """List the exercises solved so far: `%tfrt_progress`, or for one lesson `%tfrt_progress
        chains`.

        The kernel remembers them only until it restarts; then run the cells with your answers
        again. `%tfrt_progress .` instead reads the saved answers in all notebooks of a folder.
        """
        from tfrt_nb.exercises.exercise import exercises

        asked = line.strip()
        # `Path("")` is the current folder, but an empty line asks for all exercises.
        if Path(asked or "?").is_dir():
            self._folder(asked)
            return
        names = [one.name for one in exercises() if one.name.startswith(asked)]
        if not names:
            print(f"no exercise has a name that begins with {asked!r}")
        for name in names:
            mark = self._marks.get(name, "not tried")
            print(f"{_SIGNS.get(mark, ' ')} {name}: {mark}")

    def _folder(self, folder: str) -> None:
        from tfrt_nb.exercises.exercise import progress_in

        try:
            found = progress_in(folder)
        except (OSError, TfrtError) as problem:
            show(Note("·", "%tfrt_progress:", str(problem)))
            return
        width = max((len(one.title) for one in found), default=0)
        rows = [
            f"{'✓' if one.right == one.exercises else '·'} {one.title:{width}}"
            f"  {one.right} of {one.exercises}"
            for one in found
        ]
        right, total = sum(one.right for one in found), sum(one.exercises for one in found)
        sign = "✓" if right == total else "·"
        show(Note(sign, f"{right} of {total} exercises are right.", "\n".join(["", *rows])))


def show(note: Note) -> None:
    display(note)  # type: ignore[no-untyped-call]


# Predictions about the next cell, and their comparison with its outcome.

_PREFIX = re.compile(r"^(?:int\d+|f\d+|i\d+|index) = ")
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen twenty"
)
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())}


class Subject(StrEnum):
    """Whether a prediction is about printed lines, results, or something else.

    The comparison with the outcome is automatic, except for something else.
    """

    PRINTS = "prints"
    RESULTS = "results"
    OTHER = ""


@dataclass(frozen=True)
class Prediction:
    """A learner's prediction before a run. `words` is empty while the text contains a `?`."""

    subject: Subject
    words: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Comparison:
    """The sentence that compares a prediction with the outcome, and whether it was right.

    `is_right` is None if only the learner can judge.
    """

    is_right: bool | None
    text: str


def read_prediction(line: str) -> Prediction:
    """Parse the line after `%tfrt_predict`: `prints 3 1`, `results 2 and error`, or any text."""
    word, _, rest = line.strip().partition(" ")
    subject = next(
        (one for one in Subject if one and one == word.lower().rstrip(":")), Subject.OTHER
    )
    text = (line if subject is Subject.OTHER else rest).strip()
    bare = (word.rstrip(".") for word in re.sub(r"[,;]|->|int\d+ =", " ", text).lower().split())
    words = tuple(word for word in bare if word not in ("", "and", "then"))
    return Prediction(subject, () if "?" in words else words, text)


def compare(prediction: Prediction, log: str, results: Sequence[object]) -> Comparison:
    """Compare a prediction with a run that printed `log` and returned the AsyncValues `results`."""
    if not prediction.words or prediction.subject is Subject.OTHER:
        return as_text(prediction)
    is_about_prints = prediction.subject is Subject.PRINTS
    rows = [row for row in log.splitlines() if row]
    # The lines that the program printed, without type names.
    printed = tuple(_PREFIX.sub("", row).lower() for row in rows)
    found = printed if is_about_prints else tuple(map(_word, results))
    said = " ".join(prediction.words)
    was = " ".join(found) or "nothing"
    # Read what was found as the prediction was read. A learner who expects no output predicts
    # `nothing`.
    if _in_digits(prediction.words) == (
        _in_digits(read_prediction(f"{prediction.subject} {' '.join(found)}").words) or ["nothing"]
    ):
        return Comparison(True, f"You predicted {prediction.subject} {said}: right.")
    return Comparison(
        False,
        f"You predicted {prediction.subject} {said}; this run has {prediction.subject} {was}.  "
        f"Which"
        " line of the program did not do what you expected?",
    )


def _in_digits(words: Sequence[str]) -> list[str]:
    """Return the words with number words as digits: `two` becomes `2`."""
    return [_NUMBERS.get(word, word) for word in words]


def as_text(prediction: Prediction) -> Comparison:
    """Return the text for a prediction that only the learner can judge."""
    if not prediction.words:
        return Comparison(
            None, "No prediction was typed.  Replace the ? above, then run both cells again."
        )
    return Comparison(None, f"You predicted: {prediction.text}.  Compare it with the output above.")


def _word(value: object) -> str:
    """Return a result as one word: its value, `error`, `chain`, or `missing`."""
    state = str(getattr(value, "state", ""))
    if state.endswith("unavailable"):
        return "missing"
    try:
        shown = value.result(0)  # type: ignore[attr-defined]
    except TfrtError:
        return "error"
    return "chain" if repr(shown) == "CHAIN" else str(shown).lower()
