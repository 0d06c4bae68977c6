"""Kernels that keep a worker: found while they run, by a look at a host's threads ten times a
second.

Calls pay nothing for it.  A thread is in the same call at two looks if its native context stands
still between them: a kernel that ends makes its results there.  What holds the interpreter's lock
is not seen; it would hold it in the blocking pool as well.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.timer import TimerQueue
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context

if TYPE_CHECKING:
    from types import CodeType, FrameType

LOOK_SECONDS = 0.1
LONG_SECONDS = 0.5
"""The time that a kernel may occupy a worker before a warning names the blocking pool."""

_State = tuple[int, int, int, int]
_named: dict[str, object] = {}
"""The functions that a warning has named, by the names of their kernels."""


class BlockingWarning(UserWarning):
    """A kernel occupies a worker long enough that other kernels have to wait."""


class BlockingWatch:
    """Looks at the threads of a host while it has runs."""

    def __init__(self, timers: TimerQueue, queue: WorkQueue, has_runs: Callable[[], bool]) -> None:
        self._timers = timers
        self._queue = queue
        self._has_runs = has_runs
        self._lock = threading.RLock()
        self._seen: dict[int, tuple[_State, float]] = {}
        """The contexts that were in kernels, and since when."""
        self.is_looking = False

    def begin(self) -> None:
        """Watch from the start of a run until no run is left."""
        with self._lock:
            if self.is_looking:
                return
            self.is_looking = True
        # A closed host has no runs to look at; without a thread there is no warning.
        with contextlib.suppress(RuntimeError, TfrtError):
            # Of no run's context: it looks at all of them.
            contextvars.Context().run(self._timers.after, LOOK_SECONDS, self._look)

    def _look(self) -> None:
        # First, as a run may begin at this moment: its thread or this one goes on.
        self.is_looking = False
        if not self._has_runs():
            return
        now, queue, seen = time.monotonic(), self._queue, self._seen
        self._seen = {}
        for context in queue.contexts:
            state = _state(context)
            if state[0] % 2 == 0 or context in queue.waiting:
                continue
            before, since = seen.get(context, (state, now))
            self._seen[context] = state, since if before == state else now
            if before == state and now - since >= LONG_SECONDS:
                _warn_of(context, state)
        self.begin()


def _state(address: int) -> _State:
    """The activity epoch of a thread and the kernel that it runs; values that it has made and
    dropped.
    """
    context = Context.at(address)
    return context.epoch, context.record, context.made, context.dropped


def _warn_of(context: int, state: _State) -> None:
    """Name the kernel that runs in `context` if it is a plain one of the user's, once."""
    process = native_process()
    request = process.requests.get(Context.at(context).request)
    # The run holds its program, with the kernel's record, at least as long as the kernel runs.
    program = getattr(request, "program", None)
    if request is None or program is None or state[1] == 0 or _state(context) != state:
        return
    owner, number = process.owner_of(state[1])
    function, name = owner.watched_function(number), owner.kernel_name(number)
    if function is None or _named.get(name) is function:
        return
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] in HOOKS.own_packages:  # it calls what a kernel has enqueued
        return
    code = getattr(inspect.unwrap(function), "__code__", None)
    # The record is that of the last kernel while a thread runs a task of compiled code.
    if code is not None and not _runs(code):
        return
    _named[name] = function
    place = ("<kernel>", 1) if code is None else (code.co_filename, code.co_firstlineno)
    text = (
        f"kernel '{name}' has occupied a worker for {LONG_SECONDS} s, and other kernels wait. If it"
        " waits for something, blocking=True runs it on a thread of its own, with limit=4 four"
        " calls at a time. If it computes in numpy, which releases the GIL, it is right as it is:"
        " a plain kernel, one for each worker"
    )
    request.as_caller(warnings.warn_explicit, text, BlockingWarning, *place)


def _runs(code: CodeType) -> bool:
    """Whether a function is called on some thread."""
    for innermost in sys._current_frames().values():
        frame: FrameType | None = innermost
        while frame is not None:
            if frame.f_code is code:
                return True
            frame = frame.f_back
    return False
