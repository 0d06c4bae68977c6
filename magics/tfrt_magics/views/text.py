"""A run as text, for a terminal, for `text/plain`, and for readers without a page.

Each state has a shape, a color, and a word; readers need only one of the three. People with any
color vision can tell the colors apart, because they are from Okabe and Ito's palette. The board has
its own table of shapes and colors in `static/theme.js`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tfrt_magics.bridge.snapshot import Row, Section, Snapshot, State, Status, progress
from tfrt_nb.documents.escapes import duration, visible

ROW_LIMIT = 60
VALUE_WIDTH = 48


@dataclass(frozen=True, slots=True)
class Mark:
    """A shape (one character), a color for pages, and an ANSI color for terminals."""

    shape: str
    color: str
    ansi: str


STATES = {
    State.UNAVAILABLE: Mark("○", "#0072b2", "34"),
    State.AVAILABLE: Mark("●", "#009e73", "32"),
    State.ERROR: Mark("▲", "#d55e00", "31"),
    State.SKIPPED: Mark("◇", "#e69f00", "33"),
    State.CANCELLED: Mark("■", "#cc79a7", "35"),
    State.UNRECORDED: Mark("?", "#7a5230", "90"),
}

STATUSES = {
    Status.WAITING: STATES[State.UNAVAILABLE],
    Status.RUNNING: STATES[State.UNAVAILABLE],
    Status.DONE: STATES[State.AVAILABLE],
    Status.FAILED: STATES[State.ERROR],
    Status.CANCELLED: STATES[State.CANCELLED],
    Status.TIMED_OUT: STATES[State.CANCELLED],
    Status.KERNEL_GONE: STATES[State.CANCELLED],
}


def text_table(snapshot: Snapshot, *, ansi: bool = False) -> str:
    """Return the printed text, a table for each function, and the reason for an early stop.

    `ansi` colors the shapes. Use it only for a terminal that shows colors.
    """
    parts = [visible(snapshot.log.rstrip("\n"))] if snapshot.log else []
    if snapshot.log_dropped:
        parts.append(f"… and {snapshot.log_dropped} more characters")
    parts += [_section(section, snapshot, ansi=ansi) for section in snapshot.sections]
    if snapshot.note:
        parts.append(visible(snapshot.note))
    return "\n".join(parts)


def _section(section: Section, snapshot: Snapshot, *, ansi: bool) -> str:
    lines = [_painted(headline(section, snapshot), STATUSES[section.status], ansi=ansi)]
    shown = section.rows[:ROW_LIMIT]
    lines += [
        "  " + _painted(line, STATES[row.state], ansi=ansi)
        for line, row in zip(_columns([cells(row, snapshot) for row in shown]), shown, strict=True)
    ]
    if more := section.hidden.total + len(section.rows[ROW_LIMIT:]):
        lines.append(f"  … and {more} more values")
    return "\n".join(lines)


def headline(section: Section, snapshot: Snapshot) -> str:
    """Return one line with the state of a function."""
    shape = STATUSES[section.status].shape
    ends = [row.resolved_ns for row in section.rows if row.resolved_ns is not None]
    facts = [str(section.status), str(progress([section]))]
    if ends:
        facts.append(duration(max(ends)))
    if snapshot.work_queue and not snapshot.is_simple:
        facts.append(f"on {snapshot.work_queue}")
    return f"{shape} @{section.name}: {', '.join(facts)}"


def cells(row: Row, snapshot: Snapshot) -> list[str]:
    """Return the row's columns as text."""
    value = row.text if len(row.text) <= VALUE_WIDTH else row.text[: VALUE_WIDTH - 1] + "…"
    return [
        f"{STATES[row.state].shape} {row.state}",
        row.name,
        value + (f" (×{row.count})" if row.count > 1 else ""),
        row.type,
        *([] if snapshot.is_simple else [row.worker or ""]),
        when(row),
    ]


def when(row: Row) -> str:
    """Return the time from the function's start to the row's start, and the row's duration."""
    if row.started_ns is None:
        return "" if row.resolved_ns is None else duration(row.resolved_ns)
    if row.resolved_ns is None:
        return f"{duration(row.started_ns)} + …"
    return f"{duration(row.started_ns)} + {duration(row.resolved_ns - row.started_ns)}"


def _columns(table: Sequence[Sequence[str]]) -> Iterable[str]:
    taken = [[_width(cell) for cell in line] for line in table]
    widths = [max(column) for column in zip(*taken, strict=True)]
    for line, own in zip(table, taken, strict=True):
        padded = [
            cell + " " * (width - used) for cell, used, width in zip(line, own, widths, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Return how many columns `text` occupies in a terminal."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


@lru_cache(1024)
def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _painted(line: str, mark: Mark, *, ansi: bool) -> str:
    """Color the shape in `line`. The words keep the terminal's color."""
    if not ansi:
        return line
    return line.replace(mark.shape, f"\x1b[{mark.ansi}m{mark.shape}\x1b[0m", 1)
