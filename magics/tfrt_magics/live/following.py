"""The lines of what is displayed, as they change: what a thread marks, one look takes."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from tfrt_magics.bridge.snapshot import State
from tfrt_magics.live.lines import Line, line_of
from tfrt_runtime.host.values.async_value import AsyncValue


class Lines:
    """The present lines of some parts, each of which is a value or any other object.

    Keeps no object alive: of an unresolved value it has a reference that is no promise, and of a resolved one its line.
    """

    def __init__(self, parts: Sequence[tuple[str, object]]) -> None:
        """See `parts_of`."""
        self._start = time.monotonic()
        self._marked: deque[int] = deque()
        self._came: dict[int, AsyncValue] = {}
        self.now: list[Line] = []
        for place, (name, part) in enumerate(parts):
            line = line_of(name, part)
            if line.state == State.UNAVAILABLE and isinstance(part, AsyncValue):
                self._came[place] = part.for_waiter()
            self.now.append(line)

    @property
    def is_over(self) -> bool:
        """Whether no line will change any more."""
        return not self._came

    def follow(self, parts: Sequence[tuple[str, object]], changed: Callable[[], None]) -> None:
        """From now on call `changed` for each of the `parts` that is resolved, on the thread that resolves it.

        `changed` must be cheap, and may be called in a destructor.  It is not called any more once this object has died.
        """
        this = weakref.ref(self)
        for place in [*self._came]:
            value = parts[place][1]
            assert isinstance(value, AsyncValue)
            value.and_then(partial(_mark, this, place, changed))

    def take(self) -> dict[int, Line]:
        """The lines that have changed since the last call, by their places; one thread at a time."""
        new: dict[int, Line] = {}
        while self._marked:
            place = self._marked.popleft()
            if (value := self._came.get(place)) is not None:
                new[place] = line_of(self.now[place].name, value, time.monotonic() - self._start)
                self.now[place] = new[place]
                del self._came[place]  # last: who sees that all is over sees all lines
        return new


def _mark(this: weakref.ref[Lines], place: int, changed: Callable[[], None]) -> None:
    """On the thread that resolves a value: no lock, and nothing that takes long."""
    if (lines := this()) is not None:
        lines._marked.append(place)
        changed()
