"""The lines of a display as they change: threads mark values, and the pump collects the marked ones."""

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
    """The current lines of some parts, each of which is an AsyncValue or any other object.

    Keeps no object alive: it holds a reference that is not a promise to each unresolved value, and the line of each
    resolved one.
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
        """Whether no line will change anymore."""
        return not self._came

    def follow(self, parts: Sequence[tuple[str, object]], changed: Callable[[], None]) -> None:
        """Call `changed` whenever one of the `parts` is resolved, on the thread that resolves it.

        `changed` must be cheap, because it may run in a destructor.  It is never called after this object has died.
        """
        this = weakref.ref(self)
        for place in [*self._came]:
            value = parts[place][1]
            assert isinstance(value, AsyncValue)
            value.and_then(partial(_mark, this, place, changed))

    def take(self) -> dict[int, Line]:
        """Return the lines that have changed since the last call, by place; for one thread at a time."""
        new: dict[int, Line] = {}
        while self._marked:
            place = self._marked.popleft()
            if (value := self._came.get(place)) is not None:
                new[place] = line_of(self.now[place].name, value, time.monotonic() - self._start)
                self.now[place] = new[place]
                del self._came[place]  # last: a reader that sees `is_over` sees every line
        return new


def _mark(this: weakref.ref[Lines], place: int, changed: Callable[[], None]) -> None:
    """Mark a value on the thread that resolves it: no lock, and nothing that takes long."""
    if (lines := this()) is not None:
        lines._marked.append(place)
        changed()
