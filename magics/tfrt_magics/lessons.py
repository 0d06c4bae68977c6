"""The magics of the tutorials: `%tfrt_predict`, `%%tfrt_check` and `%tfrt_progress`."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.display import display

from tfrt_magics.predictions import as_text, compare, read_prediction
from tfrt_magics.session import Session
from tfrt_runtime.diagnostics import TfrtError

_SIGNS = {"right": "✓", "not yet": "✗", "no answer yet": "·"}
_COLOURS = {"✓": "#009e73", "✗": "#d55e00", "·": "#777777"}
"""Okabe and Ito's green and vermilion; the sign says the same without colour."""


@dataclass(frozen=True)
class Note:
    """A short note below a cell: a verdict about an answer, or a prediction beside what happened.

    `sign` is ✓, ✗ or ·; `folded` is a summary and a text that a click opens.
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
        colour = _COLOURS[self.sign]
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
            f"<div role='status' style='border-left:4px solid {colour};padding:2px 10px'>"
            f"<b style='color:{colour}'>{self.sign}</b> <b>{title}</b> {body}{more}</div>"
        )


@magics_class
class LessonMagics(Magics):
    """`%tfrt_predict`, `%%tfrt_check` and `%tfrt_progress`."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._shell, self._session = shell, session
        self._marks: dict[str, str] = {}

    def after_cell(self, result: ExecutionResult) -> None:
        """Show a prediction below a cell of Python; a `%%tfrt` cell that did not run leaves it for the next."""
        cell = result.info.raw_cell.lstrip() if result.info else ""
        if not cell.startswith(("%tfrt_predict", "%%tfrt")):
            show_prediction(self._session)

    @no_var_expand
    @line_magic
    def tfrt_predict(self, line: str) -> None:
        """Keep a prediction about the next `%%tfrt` cell, and compare it when that has run.

        `%tfrt_predict prints 3 1` is about what the program prints, `%tfrt_predict results 2 error` about
        the results of its functions; any other text is shown beside the run.  `?` stands for "not yet".
        """
        prediction = self._session.prediction = read_prediction(line)
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

        The answer is words, a program or Python, as the exercise asks.  A wrong one gets a hint, and a
        solution that a click unfolds.
        """
        # Here, because %load_ext loads no compiler.
        from tfrt_nb.exercises.exercise import Mark, find

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
        """Say which exercises are right so far: `%tfrt_progress`, or of one lesson `%tfrt_progress chains`.

        The kernel keeps this; after a restart, run the cells with your answers again.  `%tfrt_progress .`
        reads the answers in all notebooks of a folder instead, as they were saved.
        """
        from tfrt_nb.exercises.exercise import exercises

        asked = line.strip()
        if Path(asked or "?").is_dir():
            self._folder(asked)
            return
        names = [one.name for one in exercises() if one.name.startswith(asked)]
        if not names:
            print(f"no exercise begins with {asked!r}")
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
            f"  {one.minutes:>2} min  {one.right} of {one.exercises}"
            for one in found
        ]
        right, total = sum(one.right for one in found), sum(one.exercises for one in found)
        sign = "✓" if right == total else "·"
        show(Note(sign, f"{right} of {total} exercises are right.", "\n".join(["", *rows])))


def show_prediction(session: Session) -> None:
    """Show the session's prediction, which only the learner can judge; it is used up."""
    prediction, session.prediction = session.prediction, None
    if prediction is not None:
        show(Note("·", "Your prediction:", as_text(prediction).text))


def compare_with(session: Session, log: str, results: Sequence[object]) -> None:
    """Show the session's prediction beside what a run did; it is used up."""
    prediction, session.prediction = session.prediction, None
    if prediction is not None:
        found = compare(prediction, log, results)
        sign = {True: "✓", False: "✗", None: "·"}[found.is_right]
        show(Note(sign, "Your prediction:", found.text))


def show(note: Note) -> None:
    display(note)  # type: ignore[no-untyped-call]
