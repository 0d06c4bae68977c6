"""The progress of a run, for a callback."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context

from tfrt_runtime.host.process import shielded
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.run_parts import within

PROGRESS_INTERVAL = 1 / 30
"""Seconds between two calls of a callback for progress."""


class Progress:
    """Calls a callback with the progress of a run, on the thread of its host's timers."""

    def __init__(
        self,
        request: Request,
        progress: Callable[[], tuple[int, int]],
        callback: Callable[[int, int], None],
    ) -> None:
        """Follow the run from now on; `progress` tells how far it is."""
        self._request = request
        self._progress = progress
        self._callback = callback
        self._context = copy_context()
        self._told: tuple[int, int] | None = None
        self._next = 0.0
        """The earliest time of the next call, of `time.monotonic`."""
        request.on_done(self._finish)
        self._look_again()

    def _look_again(self) -> None:
        with suppress(RuntimeError):  # the host is closed, and its run over
            self._request.host.timers.at(self._next, self._tell)

    def _tell(self) -> None:
        if self._request.is_done:
            return
        self._say(self._progress())
        self._next = time.monotonic() + PROGRESS_INTERVAL
        self._look_again()

    def _finish(self) -> None:
        try:
            self._request.host.timers.at(self._next, self._tell_end)
        except RuntimeError:
            self._tell_end()

    def _tell_end(self) -> None:
        self._told = None
        self._say(self._progress())

    def _say(self, found: tuple[int, int]) -> None:
        if found != self._told:
            self._told = found
            shielded(lambda: within(self._context, self._callback, *found))
