"""Timers: one thread with a heap of callbacks by due time.

If no thread can be started, the timer queue is a source of `one_thread`.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import threading
import time
from collections.abc import Callable
from contextvars import copy_context

from tfrt_runtime.callers import FOREVER
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.process import shielded
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.native.machine import HAS_THREADS


class Timer:
    """Something that is due at `time`, in seconds of `time.monotonic`."""

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.time = due
        self._callback: Callable[[], object] | None = callback

    @property
    def is_cancelled(self) -> bool:
        """Whether the callback has been called, or never will be."""
        return self._callback is None

    def cancel(self) -> None:
        """Do not call the callback, unless it is being called. Drop the objects that it holds."""
        self._callback = None

    def fire(self) -> None:
        """Call the callback now, unless it has been called or the timer is cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            shielded(callback)


class TimerQueue:
    """Calls callbacks when they are due, one after the other, on a thread of its own.

    The thread starts with the first timer. An exception of a callback is shown, and stops nothing.
    """

    def __init__(self) -> None:
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """The number of waiting timers, including cancelled ones until they are due."""
        return len(self._timers)

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` at a time of `time.monotonic`, soon if that is past.

        Timers of the same time are called in the order in which they were made, each in a copy of
        the context in which it was.

        Raises:
            RuntimeError: if the queue is closed.
            TfrtError: if the system cannot start thread.
        """
        timer = Timer(due, functools.partial(copy_context().run, callback))
        with self._changed:
            if self._closed:
                raise RuntimeError("the timer queue is closed")
            if HAS_THREADS and self._thread is None:
                self._thread = start_thread("timers", self._run)
            heapq.heappush(self._timers, (due, next(self._numbers), timer))
            self._changed.notify()
        if not HAS_THREADS:
            ONE_THREAD.add(self._fire_due)
        return timer

    def after(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` in `delay` seconds; see `at`."""
        return self.at(time.monotonic() + delay, callback)

    def close(self, timeout: float | None = None) -> None:
        """Forget the timers that are not due yet, and end the thread.

        Waits for a callback that runs, for `timeout` seconds at most.
        """
        with self._changed:
            self._closed = True
            self._timers.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _fire_due(self) -> float | None:
        """Call the due callbacks: a source of the one thread, until no timer is left."""
        while self._timers:
            left = self._timers[0][0] - time.monotonic()
            if left > 0:
                return left
            heapq.heappop(self._timers)[2].fire()
        ONE_THREAD.remove(self._fire_due)
        return None

    def _run(self) -> None:
        while (timer := self._next()) is not None:
            timer.fire()
            del timer  # what it held must not wait for the next one

    def _next(self) -> Timer | None:
        """Sleep until a timer is due and take it; None when the queue is closed."""
        with self._changed:
            while not self._closed:
                left = self._timers[0][0] - time.monotonic() if self._timers else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._timers)[2]
                self._changed.wait(None if left is None else min(left, FOREVER))
            return None
