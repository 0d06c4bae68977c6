"""Displayed values as a small run document, on the path that runs of `%%tfrt` take.

A page with our extension draws it as chips, keeps it alive over a reload, and writes its end into the file; every other
page, and a file that no page shows, gets the same as HTML and text under a display id.
"""

from __future__ import annotations

import threading
import time
import uuid
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.live import Bundle, LiveRuns
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.record import RUN_MIME, Document, Json
from tfrt_magics.bridge.saved import Writer
from tfrt_magics.bridge.snapshot import State
from tfrt_magics.live.following import Lines
from tfrt_magics.live.lines import Line, as_json, lines_html, lines_text
from tfrt_magics.views.outlet import Slot


class LiveValues:
    """An output with lines that are live: the pump takes a look whenever one of its values is resolved."""

    def __init__(
        self, parts: Sequence[tuple[str, object]], runs: LiveRuns, *, is_page: bool
    ) -> None:
        """Show `parts`. With `is_page`, our page shows them, and gets each change in a message;
        otherwise the output is replaced.
        """
        self.id, self.began, self.over = uuid.uuid4().hex, time.time(), threading.Event()
        self._head = {"run": self.id, **runs.place}
        self._runs, self._is_page = runs, is_page
        self._start = time.perf_counter_ns()
        self._lines = Lines(parts)
        self._slot: Slot | None = None

    @property
    def is_over(self) -> bool:
        """Whether everything is resolved."""
        return self._lines.is_over

    def show(
        self, parts: Sequence[tuple[str, object]], shell: InteractiveShell, pump: Pump
    ) -> None:
        """Publish the output in the cell that runs, and follow its values; on the main thread."""
        pump.start()
        self._runs.hold(self, len(parts))
        self._slot = Slot(shell, self.bundle(), self.id)
        this = weakref.ref(self)  # a value that never comes keeps no output alive

        def changed() -> None:
            if (one := this()) is not None:
                pump.mark(one)

        self._lines.follow(parts, changed)
        if self.is_over:  # all was resolved meanwhile, and nothing will mark it
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
        """Return all lines that are resolved, whatever part of them the page has."""
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
    """Return the display data of lines as they are: a run document, HTML, and text."""
    body = Writer({}).written({"lines": [as_json(line) for line in lines]})
    return {
        RUN_MIME: {"version": 2, **head, **body},
        "text/html": lines_html(lines),
        "text/plain": lines_text(lines),
    }
