"""Threads of queues: how to start them, a queue's record of each thread, and timers.

Timers are kept in a heap, which one thread processes; if threads cannot be started, the heap is a
source of `one_thread`.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import sys
import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

from tfrt_runtime.diagnostics import FOREVER, TfrtError, error
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.process import shielded
from tfrt_runtime.host.structs import Queue
from tfrt_runtime.native.machine import HAS_THREADS


def start_thread(name: str, target: Callable[..., object], *arguments: object) -> threading.Thread:
    """Start a daemon thread that runs `target`, in an empty context because it outlives the caller.

    Raises:
        TfrtError: if the system cannot start more threads or the interpreter is exiting.
    """
    if sys.is_finalizing():  # before Python 3.12, starting a thread would hang here
        raise TfrtError(error(f"the interpreter is shutting down: it cannot start thread '{name}'"))
    # Since Python 3.14, a thread may inherit the context of its creator.
    own: dict[str, Any] = {"context": Context()} if sys.version_info >= (3, 14) else {}
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True, **own)
    try:
        thread.start()
    except RuntimeError as refused:
        text = (
            f"the system cannot start thread '{name}': {refused} "
            "(`ulimit -u` and `-v` limit threads)"
        )
        raise TfrtError(error(text)) from None
    return thread


def run_apart(name: str, target: Callable[[], object]) -> threading.Thread:
    """Run `target` on a new thread, and return the thread; where threads cannot be started, run
    `target` before returning.

    Raises:
        TfrtError: as `start_thread` does.
    """
    if HAS_THREADS:
        return start_thread(name, target)
    target()
    return threading.Thread()


class QueueThread(threading.local):
    """The queue's record of a thread, which each thread creates when it first uses the queue."""

    __slots__ = ("_borrow", "_idle", "_queue")
    # The slots of a local object are shared by all threads, and a thread can use them before its
    # `__init__` has returned.

    context: int
    """The thread's native context."""
    busy = 0
    """The number of the queue's run loops on the thread's stack."""
    blocks_here = False
    """Whether the thread runs tasks of the blocking pool because it cannot get a thread."""

    def __init__(self, borrow: Callable[[], int], idle: list[int], native: Queue) -> None:
        """Borrow a context for the thread from `borrow`.

        When the thread exits, `idle` gets the context.
        """
        self._borrow, self._idle, self._queue = borrow, idle, native
        self.beneath: list[int] = []
        """The contexts further down on the thread's stack; their kernels wait for work on top."""
        self.introduce()

    def introduce(self) -> int:
        """Return the thread's context, creating it if needed."""
        found = self._borrow()
        # Borrowing allocates, so the collector may run in the meantime; AsyncValues that it
        # finalizes need a context to drop their references, and may already have created it.
        context = int(self.__dict__.setdefault("context", found))
        if context == found:
            self._lease = _Lease(self._idle, self._queue, context)
        else:
            self._idle.append(found)
        return context

    def become(self, context: int) -> None:
        """Switch to another context."""
        self.context = context
        self._queue.thread = 0


class _Lease:
    """A thread's hold on its context; after the thread exits, another thread may use it."""

    def __init__(self, idle: list[int], queue: Queue, context: int) -> None:
        self._idle, self._queue, self._context = idle, queue, context

    def __del__(self) -> None:
        # Do this before another thread, which CPython may give the same address, can request its
        # own context.
        self._queue.thread = 0
        self._idle.append(self._context)


class Timer:
    """A callback that is due at `time`, in seconds of `time.monotonic`."""

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.time = due
        self._callback: Callable[[], object] | None = callback

    @property
    def is_cancelled(self) -> bool:
        """Whether the callback has been called or will never be called."""
        return self._callback is None

    def cancel(self) -> None:
        """Cancel the callback, unless it is being called, and drop the objects that it holds."""
        self._callback = None

    def fire(self) -> None:
        """Call the callback now, unless it has been called or the timer is cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            shielded(callback)


class TimerQueue:
    """Calls callbacks when they are due, one after another, on a separate thread.

    The thread starts with the first timer.  An exception raised by a callback is reported, and has
    no other effect.
    """

    def __init__(self) -> None:
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """Return the number of waiting timers, including cancelled ones that are not due yet."""
        return len(self._timers)

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` at a given time of `time.monotonic`, or soon if that time is past.

        Timers with the same time are called in the order in which they were created, each in a copy
        of the context in which it was created.

        Raises:
            RuntimeError: if the queue is closed.
            TfrtError: if the system cannot start the thread.
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
        """Drop timers that are not due yet, and stop the thread.

        Waits at most `timeout` seconds for a running callback.
        """
        with self._changed:
            self._closed = True
            self._timers.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _fire_due(self) -> float | None:
        """Call the timers that are due; this is a source of `one_thread` until no timer is left."""
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
            del timer  # objects that it holds must not live until the next timer is due

    def _next(self) -> Timer | None:
        """Sleep until a timer is due, and take it; return None when the queue is closed."""
        with self._changed:
            while not self._closed:
                left = self._timers[0][0] - time.monotonic() if self._timers else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._timers)[2]
                self._changed.wait(None if left is None else min(left, FOREVER))
            return None
