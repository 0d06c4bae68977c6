"""A run at one moment, as a value.

Nothing here changes or waits: a snapshot is taken from the runtime's views, compared with the one
before, sent, drawn and stored.  Times are nanoseconds since the
first one in the row's own function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class State(StrEnum):
    """The state of a value."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    UNRECORDED = "unrecorded"
    """Of compiled code that may have made it or not: no event says which."""


class Status(StrEnum):
    """The state of a function, or of the whole cell."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    KERNEL_GONE = "kernel gone"


STOPPED = frozenset({Status.CANCELLED, Status.TIMED_OUT, Status.KERNEL_GONE})
OVER = STOPPED | {Status.DONE, Status.FAILED}
UNDECIDED = frozenset({State.UNAVAILABLE, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class Row:
    """A value at one moment, as one line of a board: a result of a function, or one of its named values.

    `count` says how often the value was computed: a loop's body computes it many times and the row
    shows the last.  `number` is that of the value in the program's document.
    """

    name: str
    type: str
    state: State
    text: str = ""
    is_result: bool = False
    worker: str | None = None
    started_ns: int | None = None
    resolved_ns: int | None = None
    count: int = 1
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How many values the run decided: computed, failed or skipped."""

    resolved: int
    total: int

    def __str__(self) -> str:
        return f"{self.resolved} of {self.total} values"


NOTHING = Progress(0, 0)


@dataclass(frozen=True, slots=True)
class Section:
    """A function of the program: its results first, then its values in program order.

    `hidden` counts the values that have no row because there are too many.
    """

    name: str
    status: Status
    rows: tuple[Row, ...]
    hidden: Progress = NOTHING


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a board shows.  `note` is the one line that says why a run was stopped."""

    status: Status
    sections: tuple[Section, ...]
    work_queue: str = ""
    elapsed_ns: int = 0
    log: str = ""
    log_dropped: int = 0
    note: str = ""


def ended(section: Section, status: Status) -> Section:
    """The section once nothing in it will change.

    What is still unresolved never will be: it was stopped, or it is in a branch not taken.
    """
    left = State.CANCELLED if status in STOPPED else State.SKIPPED
    rows = tuple(
        replace(row, state=left) if row.state is State.UNAVAILABLE else row for row in section.rows
    )
    return replace(section, status=status, rows=rows)


def result_names(count: int) -> list[str]:
    """`result` when there is one; `result 0`, `result 1` and so on when there are several."""
    return ["result"] if count == 1 else [f"result {index}" for index in range(count)]


def progress(sections: Sequence[Section]) -> Progress:
    """Counts named values; results stand for them in a function that names none."""
    shown = decided([row for section in sections for row in _counted(section)])
    hidden = [section.hidden for section in sections]
    return Progress(
        shown.resolved + sum(one.resolved for one in hidden),
        shown.total + sum(one.total for one in hidden),
    )


def decided(rows: Sequence[Row]) -> Progress:
    return Progress(sum(row.state not in UNDECIDED for row in rows), len(rows))


def pending(section: Section) -> list[str]:
    """The names of the values that the section waits for, or that a stop kept away, as far as they have rows."""
    missing = UNDECIDED if section.status in STOPPED else {State.UNAVAILABLE}
    return [row.name for row in _counted(section) if row.state in missing]


def _counted(section: Section) -> Sequence[Row]:
    return [row for row in section.rows if not row.is_result] or section.rows
