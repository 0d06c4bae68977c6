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
