"""What stands in the way of a program that makes no progress: no thread has stack left."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.queues.thread_starts import start_thread
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.waiting.idleness import epochs, has_work

MAX_UNCHANGED = 5
"""After so many checks in a row in which no thread took a waiting task, the threads count as exhausted."""
MAX_RESCUERS = 16


class Exhaustion:
    """Notices that tasks wait and no thread takes one, as their stacks are too full to run any."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._seen: list[int] = []
        self._count = 0

    def is_noticed(self, apart_from: tuple[int, ...]) -> bool:
        """Asked again and again by a thread that waits; conservative: may report false negatives."""
        now = epochs(self.queue, apart_from)
        is_stuck = has_work(self.queue) and not any(number & 1 for number in now)
        self._count = self._count + 1 if is_stuck and now == self._seen else 0
        self._seen = now
        return self._count >= MAX_UNCHANGED


class Rescuers:
    """Threads with empty stacks that run tasks while those of the queue cannot."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._goes_on = ctypes.c_int64(1)
        self._threads: list[threading.Thread] = []

    def add(self) -> bool:
        """Start one more; False if there are too many already, or the system starts none."""
        if len(self._threads) >= MAX_RESCUERS:
            return False
        try:
            self._threads.append(start_thread("rescuer", self._help))
        except TfrtError:
            return False
        return True

    def dismiss(self) -> None:
        """Let all of them end, and wait for that."""
        self._goes_on.value = 0
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._goes_on.value = 1

    def _help(self) -> None:
        word = ctypes.addressof(self._goes_on)
        self.queue.help(word, None, lambda: False)


@contextlib.contextmanager
def dismissing(rescuers: Rescuers) -> Iterator[None]:
    """Afterwards none is left."""
    try:
        yield
    finally:
        rescuers.dismiss()
