"""Threads of queues: starting one, and the queue's record of each thread that works for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.structs import Queue
from tfrt_runtime.native.machine import HAS_THREADS


def start_thread(name: str, target: Callable[..., object], *arguments: object) -> threading.Thread:
    """A daemon thread that runs `target`, in an empty context: it outlives the call that happens to
    start it.

    Raises:
        TfrtError: if the system starts no more threads, or the interpreter is ending.
    """
    if sys.is_finalizing():  # before Python 3.12 the start would wait for ever for the thread
        raise TfrtError(error(f"the interpreter is shutting down: it cannot start thread '{name}'"))
    # From Python 3.14 on a thread may inherit the context of its creator.
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
    """Return the thread that runs `target`; if none can be started, `target` has finished on
    return.

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
    # Slots of a local object are those of all threads: a thread finds them before its `__init__` is
    # over.

    context: int
    """The native context of the thread."""
    busy = 0
    """The number of the queue's loops on the thread's stack."""
    blocks_here = False
    """Whether it runs tasks of the blocking pool, as there is no thread for them."""

    def __init__(self, borrow: Callable[[], int], idle: list[int], native: Queue) -> None:
        """`borrow` gives the thread a context; when the thread is gone, that is put into `idle`."""
        self._borrow, self._idle, self._queue = borrow, idle, native
        self.beneath: list[int] = []
        """The contexts further down on its stack: their kernels wait for what runs on top."""
        self.introduce()

    def introduce(self) -> int:
        """Return the thread's context, after giving it one if needed."""
        found = self._borrow()
        # Borrowing allocates, so the collector may run in it; the AsyncValues that it finalizes
        # need a context to drop their references, and came first then.
        context = int(self.__dict__.setdefault("context", found))
        if context == found:
            self._lease = _Lease(self._idle, self._queue, context)
        else:
            self._idle.append(found)
        return context

    def become(self, context: int) -> None:
        """Have another context from now on."""
        self.context = context
        self._queue.thread = 0


class _Lease:
    """A thread's hold on its context: when the thread is gone, another one may have it."""

    def __init__(self, idle: list[int], queue: Queue, context: int) -> None:
        self._idle, self._queue, self._context = idle, queue, context

    def __del__(self) -> None:
        # Before another thread, which CPython may know by the same address, can ask for its own.
        self._queue.thread = 0
        self._idle.append(self._context)
