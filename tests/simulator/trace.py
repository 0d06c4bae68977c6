"""One schedule as a table, step by step: thread, operation, field.

Only a world with `World(trace=True)` keeps events, so exploring thousands of schedules does not pay
for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True, slots=True)
class Event:
    """One access, call, sleep, or wake-up.

    `step` counts scheduling points; plain accesses belong to the step before them. `old` and `new`
    are the word before and after, as far as the thread has seen it, or None if that has no meaning.
    `place` is the native function. `note` says what is special, such as an outdated value.
    """

    step: int
    thread: str
    operation: str
    address: int
    label: str
    old: int | float | None = None
    new: int | float | None = None
    place: str = ""
    note: str = ""

    @property
    def value(self) -> str:
        """The values in readable form: `3` for a read, `3 -> 4` for a change."""
        shown = [_number(value) for value in (self.old, self.new) if value is not None]
        if self.old is None and self.new is not None:
            return f"-> {shown[0]}"
        return " -> ".join(shown)


def _number(value: float) -> str:
    """Format small numbers in decimal, addresses and bit patterns in hexadecimal."""
    if isinstance(value, float) or -4096 < value < 4096:
        return str(value)
    return hex(value)


HEADINGS = ("step", "thread", "operation", "word", "value", "function", "note")


MAX_ROWS = 400
"""The maximum number of rows; of a longer table, the end is shown."""
MAX_ROWS_BEFORE = 20
"""The maximum number of rows for the preparation; a longer one is not shown.

The preparation is what happens before the threads start.
"""


def render(events: Sequence[Event]) -> str:
    """Return the events as a table, one line each, without a long preparation or beginning."""
    shown = _after_preparation(events)[-MAX_ROWS:]
    rows = [HEADINGS, *(_row(event) for event in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if len(shown) < len(events):
        lines.insert(1, f"({len(events) - len(shown)} events before)")
    return "\n".join(lines)


def _after_preparation(events: Sequence[Event]) -> Sequence[Event]:
    preparation = takewhile(lambda event: event.thread == events[0].thread, events)
    count = sum(1 for _ in preparation)
    return events[count:] if MAX_ROWS_BEFORE < count < len(events) else events


def _row(event: Event) -> tuple[str, ...]:
    step = str(event.step) if event.step else ""
    place = event.place
    return (step, event.thread, event.operation, event.label, event.value, place, event.note)
