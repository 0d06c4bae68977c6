"""Displayed values as a small run document, published like a run of `%%tfrt`.

A page with our extension draws the document as chips, updates them even after a reload, and writes
the final state to the file. Any other page, and a file that no page shows, gets the same content as
HTML and text, and each change replaces that output.

`Lines` has the lines of a display. The threads that resolve values mark the lines, and the pump
sends the marked lines.
"""

from __future__ import annotations

import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.live import Bundle, LiveRuns
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.record import RUN_MIME, Document, Json, Writer
from tfrt_magics.bridge.snapshot import State
from tfrt_magics.live.lines import Line, as_json, line_of, lines_html, lines_text
from tfrt_magics.views.outlet import Slot
from tfrt_runtime.host.values.async_value import AsyncValue


class Lines:
    """The current lines of some parts. A part is an AsyncValue or any other object.

    This object does not keep any of the parts alive. For an unresolved value, it has a reference
    that keeps no promise alive. For a resolved value, it has only the line.
    """

    def __init__(self, parts: Sequence[tuple[str, object]]) -> None:
        """Create a line for each of `parts`, the pairs of name and object from `parts_of`."""
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
        """Whether all lines are final."""
        return not self._came

    def follow(self, parts: Sequence[tuple[str, object]], changed: Callable[[], None]) -> None:
        """Call `changed` whenever one of the `parts` is resolved, on the thread that resolves it.

        `changed` must be fast, because a destructor may call it. After this object has been
        destroyed, it is never called.
        """
        this = weakref.ref(self)
        # A copy, because the pump may call `take` as soon as the first value is followed.
        for place in [*self._came]:
            value = parts[place][1]
            assert isinstance(value, AsyncValue)
            value.and_then(partial(_mark, this, place, changed))

    def take(self) -> dict[int, Line]:
        """Return the lines that have changed since the last call, by index.

        Only one thread at a time may call this.
        """
        new: dict[int, Line] = {}
        while self._marked:
            place = self._marked.popleft()
            if (value := self._came.get(place)) is not None:
                new[place] = line_of(self.now[place].name, value, time.monotonic() - self._start)
                self.now[place] = new[place]
                # Delete it last, so that a reader that sees `is_over` sees every line.
                del self._came[place]
        return new


def _mark(this: weakref.ref[Lines], place: int, changed: Callable[[], None]) -> None:
    """Mark a value. This runs on the thread that resolves the value, so it takes no lock."""
    if (lines := this()) is not None:
        lines._marked.append(place)
        changed()


class LiveValues:
    """Publishes the lines of displayed values. The pump updates them as values are resolved."""

    def __init__(
        self, parts: Sequence[tuple[str, object]], runs: LiveRuns, *, is_page: bool
    ) -> None:
        """Show `parts`.

        If `is_page`, a page with our extension gets each change as a message. Otherwise, each
        change replaces the output.
        """
        self.id, self.began, self.over = uuid.uuid4().hex, time.time(), threading.Event()
        self._head = {"run": self.id, **runs.place}
        self._runs, self._is_page = runs, is_page
        self._start = time.perf_counter_ns()
        self._lines = Lines(parts)
        self._slot: Slot | None = None

    @property
    def is_over(self) -> bool:
        """Whether all values are resolved."""
        return self._lines.is_over

    def show(
        self, parts: Sequence[tuple[str, object]], shell: InteractiveShell, pump: Pump
    ) -> None:
        """Publish the output in the running cell, and follow its values.

        Call this on the main thread.
        """
        pump.start()
        self._runs.hold(self, len(parts))
        self._slot = Slot(shell, self.bundle(), self.id)
        this = weakref.ref(self)  # a value that is never resolved must not keep the output alive

        def changed() -> None:
            if (one := this()) is not None:
                pump.mark(one)

        self._lines.follow(parts, changed)
        if self.is_over:  # all values are resolved by now, so nothing will mark this output
            self._runs.release(self)

    def step(self) -> bool:
        new = self._lines.take()
        if not new or self._slot is None:
            return False
        is_over = self.is_over
        bundle = self.bundle() if is_over or not self._is_page else {}
        if self._is_page:
            last = {"bundle": bundle} if is_over else {}
            self._runs.channel.send({**self.without_events(), "lines": _by_place(new), **last})
        if bundle:
            self._slot.replace(bundle)
        if is_over:
            self._runs.release(self)
            self.over.set()
        return False

    def without_events(self) -> Document:
        status = "done" if self._lines.is_over else "running"
        return {**self._head, "status": status, "elapsed": time.perf_counter_ns() - self._start}

    def since(self, event: int) -> Document:
        """Return the lines of all resolved values, including lines that the page already has."""
        head = self.without_events()
        decided = (
            (n, one) for n, one in enumerate(self._lines.now) if one.state != State.UNAVAILABLE
        )
        return {**head, "lines": _by_place(dict(decided))}

    def bundle(self) -> Bundle:
        return values_bundle(self._lines.now, self.without_events())

    def command(self, name: str, question: Mapping[str, Any]) -> Document:
        """Do nothing, because chips have no buttons."""
        return {}


def _by_place(lines: Mapping[int, Line]) -> dict[str, Json]:
    return {str(place): as_json(line) for place, line in lines.items()}


def values_bundle(lines: Sequence[Line], head: Document) -> Bundle:
    """Return the display data of the current lines: a run document, HTML, and text."""
    body = Writer({}).written({"lines": [as_json(line) for line in lines]})
    return {
        RUN_MIME: {"version": 2, **head, **body},
        "text/html": lines_html(lines),
        "text/plain": lines_text(lines),
    }
