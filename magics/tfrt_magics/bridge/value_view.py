"""A value of a run at one moment, and its text."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_magics.bridge.snapshot import State
from tfrt_runtime.diagnostics import AnyLocation
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.chain import CHAIN


@dataclass(frozen=True, slots=True)
class ValueView:
    """A result or a named value at one moment (`run.Value`)."""

    name: str
    type: str
    location: AnyLocation | None
    state: State
    text: str
    worker: str | None = None
    started_ns: int | None = None
    resolved_ns: int | None = None
    count: int = 1
    register: tuple[int, int] | None = None


def text_of(value: AsyncValue, state: State) -> str:
    """What a reader of the program wants to see of a value in this state."""
    if state is State.AVAILABLE:
        return shown(value.payload())
    if state is State.ERROR:
        problem = value.exception(0)
        return "" if problem is None else problem.diagnostics[0].message
    return ""


def shown(payload: object) -> str:
    """A Python payload as a program's reader knows it."""
    if payload is CHAIN:
        return "chain"
    if isinstance(payload, bool):
        return "true" if payload else "false"
    try:
        return str(payload)
    except Exception as problem:  # noqa: BLE001
        # A user's object may do what it likes; the board goes on.
        return f"<{type(payload).__name__}: {problem}>"
