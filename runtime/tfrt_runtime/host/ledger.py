"""Counting allocations from any thread and from finalisers."""

from __future__ import annotations

from collections import deque
from threading import Lock


class Ledger:
    """How much is alive, how much was alive at most, and how often there was an allocation.

    Buffers are given back by finalisers, and the garbage collector may run one in the middle of any
    line here, on the same thread.  So recording never waits for a lock: it adds an entry, and
    the thread that has the lock adds up the entries of the others.
    """

    def __init__(self) -> None:
        self.current_allocations = 0
        self.max_allocations = 0
        self.total_allocations = 0
        self.current_bytes = 0
        self.max_bytes = 0
        # (+1 or -1 allocation, bytes more or less)
        self._entries: deque[tuple[int, int]] = deque()
        self._adding_up = Lock()

    def allocated(self, size: int) -> None:
        """`size` bytes came alive."""
        self._entries.append((1, size))
        self._add_up()

    def deallocated(self, size: int) -> None:
        """`size` bytes were given back."""
        self._entries.append((-1, -size))
        self._add_up()

    def _add_up(self) -> None:
        # Asking again after the release: an entry left in between found the lock taken.
        while self._entries and self._adding_up.acquire(blocking=False):
            try:
                while self._entries:
                    self._add(*self._entries.popleft())
            finally:
                self._adding_up.release()

    def _add(self, allocations: int, size: int) -> None:
        self.current_allocations += allocations
        self.current_bytes += size
        self.total_allocations += max(allocations, 0)
        self.max_allocations = max(self.max_allocations, self.current_allocations)
        self.max_bytes = max(self.max_bytes, self.current_bytes)
