"""What a learner predicts about the next cell, and how it compares with what the cell did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfrt_runtime.diagnostics import TfrtError

_PREFIX = re.compile(r"^(?:int\d+|f\d+|i\d+|index) = ")


class Subject(StrEnum):
    """What a prediction is about."""

    PRINTS = "prints"
    RESULTS = "results"
    OTHER = ""


@dataclass(frozen=True)
class Prediction:
    """Words that a learner typed before a run; `words` is empty while a `?` is among them."""

    subject: Subject
    words: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Comparison:
    """A prediction beside what happened; `is_right` is None where only the learner can judge."""

    is_right: bool | None
    text: str


def read_prediction(line: str) -> Prediction:
    """The prediction in the line after `%tfrt_predict`: `prints 3 1`, `results 2 and error`, or any text."""
    word, _, rest = line.strip().partition(" ")
    subject = next(
        (one for one in Subject if one and one == word.lower().rstrip(":")), Subject.OTHER
    )
    text = (line if subject is Subject.OTHER else rest).strip()
    bare = (word.rstrip(".") for word in re.sub(r"[,;]|->|int\d+ =", " ", text).lower().split())
    words = tuple(word for word in bare if word not in ("", "and", "then"))
    return Prediction(subject, () if "?" in words else words, text)


def compare(prediction: Prediction, log: str, results: Sequence[object]) -> Comparison:
    """What the learner reads after the run: `log` is what it printed, `results` its AsyncValues."""
    if not prediction.words or prediction.subject is Subject.OTHER:
        return as_text(prediction)
    is_about_prints = prediction.subject is Subject.PRINTS
    found = printed_words(log) if is_about_prints else tuple(map(_word, results))
    said = " ".join(prediction.words)
    was = " ".join(found) or "nothing"
    if prediction.words in (found, ("nothing",) if not found else found):
        return Comparison(True, f"You predicted {prediction.subject} {said}: right.")
    return Comparison(
        False,
        f"You predicted {prediction.subject} {said}; this run has {prediction.subject} {was}.  Which"
        " line of the program did not do what you expected?",
    )


def as_text(prediction: Prediction) -> Comparison:
    """A prediction that only the learner can judge."""
    if not prediction.words:
        return Comparison(
            None, "No prediction was typed.  Replace the ? above, then run both cells again."
        )
    return Comparison(None, f"You predicted: {prediction.text}.  Compare it with the output above.")


def printed_words(log: str) -> tuple[str, ...]:
    """The lines that a program printed, without the name of their type."""
    return tuple(_PREFIX.sub("", row).lower() for row in log.splitlines() if row)


def _word(value: object) -> str:
    """A result in one word: its value, `error`, `chain`, or `missing`."""
    state = str(getattr(value, "state", ""))
    if state.endswith("unavailable"):
        return "missing"
    try:
        shown = value.result(0)  # type: ignore[attr-defined]
    except TfrtError:
        return "error"
    return "chain" if repr(shown) == "CHAIN" else str(shown).lower()
