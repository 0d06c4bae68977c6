"""Snapshots: the state of a run at one moment, as an immutable value.

A snapshot is taken from the runtime, compared with the previous snapshot, sent, drawn, and stored.
Times are nanoseconds since the first event of the row's function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class State(StrEnum):
    """A value's state, as a board shows it."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    UNRECORDED = "unrecorded"
    """A value in compiled code without an event: nothing records whether it was computed."""


class Status(StrEnum):
    """Whether a function, or a whole cell, is waiting, is running, or has ended, and how."""

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
    """A value at one moment, as a line of a board: a function's result, or a named value.

    `count` is the number of times that the value was computed. In a loop's body, the row shows the
    last value. `number` is the value's number in the program's document.
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
    """The number of values, and how many of them have been computed, failed, or been skipped."""

    resolved: int
    total: int

    def __str__(self) -> str:
        return f"{self.resolved} of {self.total} values"


NOTHING = Progress(0, 0)


@dataclass(frozen=True, slots=True)
class Section:
    """A function of the program: its results, then its values in program order.

    `hidden` counts the values that have no row because there are too many.
    """

    name: str
    status: Status
    rows: tuple[Row, ...]
    hidden: Progress = NOTHING


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a run at one moment, with everything that its board shows.

    `note` is a line that says why a run was stopped. `is_simple` hides workers and the work queue.
    """

    status: Status
    sections: tuple[Section, ...]
    work_queue: str = ""
    elapsed_ns: int = 0
    log: str = ""
    log_dropped: int = 0
    note: str = ""
    is_simple: bool = False


def ended(section: Section, status: Status) -> Section:
    """Return the final section of a function.

    No unresolved value will ever be resolved now: the run was stopped, or the value is in a branch
    that was not taken.
    """
    left = State.CANCELLED if status in STOPPED else State.SKIPPED
    rows = tuple(
        replace(row, state=left) if row.state is State.UNAVAILABLE else row for row in section.rows
    )
    return replace(section, status=status, rows=rows)


def result_names(count: int) -> list[str]:
    """Return `result` for a single result, or `result 0`, `result 1`, and so on."""
    return ["result"] if count == 1 else [f"result {index}" for index in range(count)]


def progress(sections: Sequence[Section]) -> Progress:
    """Count the named values of all functions, or the results if there are no named values."""
    shown = decided([row for section in sections for row in _counted(section)])
    hidden = [section.hidden for section in sections]
    return Progress(
        shown.resolved + sum(one.resolved for one in hidden),
        shown.total + sum(one.total for one in hidden),
    )


def decided(rows: Sequence[Row]) -> Progress:
    return Progress(sum(row.state not in UNDECIDED for row in rows), len(rows))


def pending(section: Section) -> list[str]:
    """Return the names of values, among those with rows, that are unresolved or were stopped."""
    missing = UNDECIDED if section.status in STOPPED else {State.UNAVAILABLE}
    return [row.name for row in _counted(section) if row.state in missing]


def _counted(section: Section) -> Sequence[Row]:
    return [row for row in section.rows if not row.is_result] or section.rows
