"""How a state looks: a shape, a colour and a word, so that none of them has to be seen.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart.  The
board's JavaScript has the same table.
"""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_magics.bridge.snapshot import State, Status


@dataclass(frozen=True, slots=True)
class Mark:
    """A shape (one character), a colour for pages and an ANSI colour for terminals."""

    shape: str
    colour: str
    ansi: str


STATES = {
    State.UNAVAILABLE: Mark("○", "#0072b2", "34"),
    State.AVAILABLE: Mark("●", "#009e73", "32"),
    State.ERROR: Mark("▲", "#d55e00", "31"),
    State.SKIPPED: Mark("◇", "#e69f00", "33"),
    State.CANCELLED: Mark("■", "#cc79a7", "35"),
}

STATUSES = {
    Status.WAITING: STATES[State.UNAVAILABLE],
    Status.RUNNING: STATES[State.UNAVAILABLE],
    Status.DONE: STATES[State.AVAILABLE],
    Status.FAILED: STATES[State.ERROR],
    Status.CANCELLED: STATES[State.CANCELLED],
    Status.TIMED_OUT: STATES[State.CANCELLED],
}


def duration(nanoseconds: int) -> str:
    """Three digits that matter, as people read times: `850 ns`, `12.3 µs`, `1.23 ms`, `45.0 s`."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{nanoseconds} ns"
