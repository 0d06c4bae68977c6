"""What stands in the way of a program that makes no progress: no memory, or no stack left."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

from tfrt_runtime.host.idleness import has_work, turns
from tfrt_runtime.host.work_queue import WorkQueue

PATIENCE = 5
"""So often in a row nobody may have taken a waiting task before the threads count as exhausted."""
MOST_RESCUERS = 16
SLICE = 0.05
BYTES_OF_A_CALL = 512
"""About what a call that waits takes: its frame, its results, and what it left with what it awaits."""
_LIMIT_OF_A_CONTAINER = "/sys/fs/cgroup/memory.max"


def most_calls() -> int:
    """So many calls and tasks may wait: a recursion without end would take all memory that there is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError), open(_LIMIT_OF_A_CONTAINER) as file:
        memory = min(memory, int(file.read()))
    return memory // 8 // BYTES_OF_A_CALL


class Exhaustion:
    """Notices that tasks wait and no thread takes one, as their stacks are too full to run any."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._seen: list[int] = []
        self._count = 0

    def is_noticed(self, apart_from: tuple[int, ...]) -> bool:
        """Asked again and again by a thread that waits; wrong only in saying no."""
        now = turns(self.queue, apart_from)
        is_stuck = has_work(self.queue) and not any(number & 1 for number in now)
        self._count = self._count + 1 if is_stuck and now == self._seen else 0
        self._seen = now
        return self._count >= PATIENCE


class Rescuers:
    """Threads with empty stacks that run tasks while those of the queue cannot."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._goes_on = ctypes.c_int64(1)
        self._threads: list[threading.Thread] = []

    def add(self) -> bool:
        """Start one more; False if there are too many already."""
        if len(self._threads) >= MOST_RESCUERS:
            return False
        thread = threading.Thread(target=self._help, name="rescuer", daemon=True)
        self._threads.append(thread)
        thread.start()
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
        while self._goes_on.value:
            self.queue.wait(word, SLICE, lambda: False)


@contextlib.contextmanager
def dismissing(rescuers: Rescuers) -> Iterator[None]:
    """Afterwards none is left."""
    try:
        yield
    finally:
        rescuers.dismiss()
