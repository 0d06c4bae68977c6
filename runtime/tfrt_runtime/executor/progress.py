"""Telling a user how far a run is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Protocol

from tfrt_runtime.host.process import shielded
from tfrt_runtime.host.request import Request

INTERVAL = 1 / 30
"""Seconds between two calls."""


class Run(Protocol):
    """A run, as this module sees it."""

    request: Request

    @property
    def progress(self) -> tuple[int, int]:
        """Kernels that are decided, and kernels that are known."""


class Progress:
    """Calls a callback with the progress of a run, on the thread of its host's timers."""

    def __init__(self, run: Run, callback: Callable[[int, int], None]) -> None:
        """Follow the run from now on."""
        self._run = run
        self._callback = callback
        self._told: tuple[int, int] | None = None
        self._next = 0.0
        """The earliest time of the next call, of `time.monotonic`."""
        _ = run.progress  # calls of functions count from the first look on
        run.request.on_done(self._finish)
        self._look_again()

    def _look_again(self) -> None:
        with contextlib.suppress(RuntimeError):  # the host is closed, and its run over
            self._run.request.host.timers.at(self._next, self._tell)

    def _tell(self) -> None:
        if self._run.request.is_done:
            return
        self._say(self._run.progress)
        self._next = time.monotonic() + INTERVAL
        self._look_again()

    def _finish(self) -> None:
        try:
            self._run.request.host.timers.at(self._next, self._tell_end)
        except RuntimeError:
            self._tell_end()

    def _tell_end(self) -> None:
        self._told = None
        self._say(self._run.progress)

    def _say(self, found: tuple[int, int]) -> None:
        if found != self._told:
            self._told = found
            shielded(lambda: self._callback(*found))
