"""Queue threads: how they start, a queue's record of each thread, and timers.

Timers are in a heap that one thread processes.  Where threads cannot be started, the heap is a
source of `one_thread`.
"""

from __future__ import annotations

import functools
import gc
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
    """Start a daemon thread that calls `target`.

    The thread has an empty contextvars context, because it outlives the caller.

    Raises:
        TfrtError: if the system cannot start another thread or the interpreter is exiting.
    """
    if sys.is_finalizing():  # before Python 3.12, starting a thread would hang here
        raise TfrtError(error(f"the interpreter is shutting down: it cannot start thread '{name}'"))
    # Since Python 3.14, a thread may inherit its creator's context.
    own: dict[str, Any] = {"context": Context()} if sys.version_info >= (3, 14) else {}
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True, **own)
    # `start` waits for the new thread, and the caller may hold a lock. If the new thread collected
    # garbage first, a finalizer that needs this lock would never return.
    collects = gc.isenabled()
    gc.disable()
    try:
        thread.start()
    except RuntimeError as refused:
        text = (
            f"the system cannot start thread '{name}': {refused} "
            "(`ulimit -u` and `-v` limit threads)"
        )
        raise TfrtError(error(text)) from None
    finally:
        if collects:
            gc.enable()
    return thread


def run_apart(name: str, target: Callable[[], object]) -> threading.Thread:
    """Run `target` on a new thread, and return the thread.

    Where threads cannot be started, run `target` before returning.

    Raises:
        TfrtError: as for `start_thread`.
    """
    if HAS_THREADS:
        return start_thread(name, target)
    target()
    return threading.Thread()


class QueueThread(threading.local):
    """A queue's record of each thread that uses the queue, as a thread-local object."""

    __slots__ = ("_borrow", "_idle", "_queue")
    # All threads share the slots, which a thread can use before its `__init__` has returned.

    context: int
    """The address of the thread's native context."""
    busy = 0
    """How many of the queue's run loops are on the thread's stack."""
    blocks_here = False
    """Whether the thread runs blocking tasks because the system cannot start another thread."""

    def __init__(self, borrow: Callable[[], int], idle: list[int], native: Queue) -> None:
        """Get a context for this thread by calling `borrow`.

        When the thread exits, its context is appended to `idle`.
        """
        self._borrow, self._idle, self._queue = borrow, idle, native
        self.beneath: list[int] = []
        """The contexts of kernels that are waiting further down on the thread's stack."""
        self.introduce()

    def introduce(self) -> int:
        """Return this thread's context; get one if the thread has none."""
        found = self._borrow()
        # Borrowing allocates, so the garbage collector may have run. AsyncValues that it finalizes
        # need a context to drop their references, and may already have set this one.
        context = int(self.__dict__.setdefault("context", found))
        if context == found:
            self._lease = _Lease(self._idle, self._queue, context)
        else:
            self._idle.append(found)
        return context

    def become(self, context: int) -> None:
        """Make `context` the context of this thread."""
        self.context = context
        # Native code caches one thread's context in the queue
        # (`native.python.python_runs.context_of`).
        self._queue.thread = 0


class _Lease:
    """Adds a thread's context to the idle contexts when the thread exits."""

    def __init__(self, idle: list[int], queue: Queue, context: int) -> None:
        self._idle, self._queue, self._context = idle, queue, context

    def __del__(self) -> None:
        # Clear this first: CPython may give another thread the same address.
        self._queue.thread = 0
        self._idle.append(self._context)


class Timer:
    """A callback that is due at `time`, in seconds of `time.monotonic`."""

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.time = due
        self._callback: Callable[[], object] | None = callback

    @property
    def is_cancelled(self) -> bool:
        """Whether the callback has been called or was cancelled."""
        return self._callback is None

    def cancel(self) -> None:
        """Cancel the callback, unless it is already being called, and drop the reference to it."""
        self._callback = None

    def fire(self) -> None:
        """Call the callback now, unless it has been called or was cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            shielded(callback)


class TimerQueue:
    """Calls callbacks when they are due, one after another, on a separate thread.

    The first timer starts the thread.  If a callback raises an exception, the exception is
    reported, and the thread continues.
    """

    def __init__(self) -> None:
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """Return how many timers are waiting, including cancelled ones that are not due yet."""
        return len(self._timers)

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` at the time `due` of `time.monotonic`, or soon if that time has passed.

        Timers with the same time are called in the order in which they were created.  Each is
        called in a copy of the contextvars context in which it was created.

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
            # The thread may be asleep until a later timer is due.
            self._changed.notify()
        if not HAS_THREADS:
            ONE_THREAD.add(self._fire_due)
        return timer

    def after(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` in `delay` seconds, as `at` does."""
        return self.at(time.monotonic() + delay, callback)

    def close(self, timeout: float | None = None) -> None:
        """Drop the timers that are not due yet, and stop the thread.

        Wait at most `timeout` seconds for a callback that is running.
        """
        with self._changed:
            self._closed = True
            self._timers.clear()
            self._changed.notify()
            thread = self._thread
        # A callback may drop the last reference to its host, and then this is the timers' own
        # thread.
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def _fire_due(self) -> float | None:
        """Call the timers that are due.  This is a source of `one_thread` while timers are left."""
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
            del timer  # do not keep its callback until the next timer is due

    def _next(self) -> Timer | None:
        """Sleep until a timer is due, and return it; return None when the queue is closed."""
        with self._changed:
            while not self._closed:
                left = self._timers[0][0] - time.monotonic() if self._timers else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._timers)[2]
                self._changed.wait(None if left is None else min(left, FOREVER))
            return None
