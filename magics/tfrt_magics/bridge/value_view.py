"""A value of a run at one moment, and its text."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_magics.bridge.snapshot import State
from tfrt_nb.documents.previews import preview_of
from tfrt_runtime.host.values.async_value import AsyncValue


@dataclass(frozen=True, slots=True)
class ValueView:
    """A result or a named value at one moment (`run.Value`)."""

    name: str
    type: str
    state: State
    text: str
    worker: str | None = None
    started_ns: int | None = None
    resolved_ns: int | None = None
    count: int = 1
    number: int | None = None


def text_of(value: AsyncValue, state: State) -> str:
    """What a reader of the program wants to see of a value in this state; made in bounded time."""
    return preview_of(value) if state in (State.AVAILABLE, State.ERROR) else ""
