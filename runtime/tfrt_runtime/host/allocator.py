"""Allocators for tensor memory.

A caller requests bytes from a `HostAllocator`, and passes the same size when it later frees them.
An allocator refuses a request by returning None, and never raises an exception.  The caller decides
whether the refusal is an error, and writes the error message.

Allocators can be stacked: for example, a counting allocator may get its memory from a recycling
allocator, which gets it from the C library.  `create_allocator` builds the named stacks.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import Final, Protocol

from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.host.budget import default_budget
from tfrt_runtime.host.process import native_process

# numpy and BLAS are fastest at this alignment: a cache line, and the widest vector register.
PREFERRED_ALIGNMENT: Final = 64
# The size of a huge page.  Larger alignments serve no purpose, and would let a program waste memory
# as padding.
MAXIMUM_ALIGNMENT: Final = 2 << 20

Limit = Callable[[], int]
"""A function that returns how many bytes native code and tensors may hold now."""


class HostAllocator(Protocol):
    """A source of memory.

    Its methods may be called on any thread, even by a finalizer.
    """

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        """Return the address of `size` bytes with undefined contents; return None to refuse.

        The address is a multiple of `alignment`, a power of two up to `MAXIMUM_ALIGNMENT`.  `size`
        is 0 or more.
        """

    def deallocate_bytes(self, address: int, size: int) -> None:
        """Free memory that `allocate_bytes` returned; `size` is the size that was requested."""


def round_up(size: int, alignment: int) -> int:
    """Return the smallest multiple of `alignment` that is at least `size`.

    `alignment` is a power of two.
    """
    return (size + alignment - 1) & -alignment


class MallocAllocator:
    """Memory from the C library, up to a limit that includes native code's memory.

    The limit turns a request for more memory than the machine has into an error.  Without it, the
    system would hand out addresses, and later kill the process when it uses the memory.
    """

    def __init__(self, limit: Limit = default_budget) -> None:
        self._limit = limit
        # PyDLL keeps the GIL: releasing it would cost more than the calls themselves.
        library = ctypes.PyDLL(None)
        self._allocate = library.aligned_alloc
        self._allocate.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self._allocate.restype = ctypes.c_void_p
        self._free = library.free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        process = native_process()
        if not process.reserve(self._limit(), size):
            return None
        alignment = max(alignment, PREFERRED_ALIGNMENT)
        # C11 requires a multiple of the alignment, and for size 0, a null pointer would not mean a
        # refusal.
        address: int | None = self._allocate(alignment, round_up(max(size, 1), alignment))
        if address is None:
            process.give_back(size)
        return address

    def deallocate_bytes(self, address: int, size: int) -> None:
        # Free first, so that the count is never lower than the memory in use.
        self._free(address)
        native_process().give_back(size)


@lru_cache(maxsize=4096)
def block_size(size: int) -> int:
    """Return the size of the recycled block for a request of `size` bytes.

    A block's size is a multiple of the preferred alignment, and of a quarter of the largest power
    of two that does not exceed `size`.
    """
    step = max(PREFERRED_ALIGNMENT, 1 << max(size.bit_length() - 3, 0))
    return round_up(max(size, 1), step)


class RecyclingAllocator:
    """Keeps freed blocks for the next request of about the same size (`block_size`).

    A program that runs repeatedly requests the same sizes each time, and fresh pages cost more than
    most kernels.
    """

    # The maximum number of bytes kept in blocks of one size. Larger blocks are freed immediately.
    IDLE_BYTES_PER_SIZE: Final = 32 << 20

    def __init__(self, upstream: HostAllocator) -> None:
        self._upstream = upstream
        self._idle: dict[int, list[int]] = {}

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        capacity = block_size(size)
        # A kept block is certain to have only the preferred alignment.
        if alignment <= PREFERRED_ALIGNMENT:
            alignment = PREFERRED_ALIGNMENT
            try:
                # Do not test before popping: another thread could take the last block in between.
                return self._idle[capacity].pop()
            except (KeyError, IndexError):
                pass
        address = self._upstream.allocate_bytes(capacity, alignment)
        # Kept blocks count toward the limit, so free them before refusing.
        if address is None and self.trim():
            address = self._upstream.allocate_bytes(capacity, alignment)
        return address

    def deallocate_bytes(self, address: int, size: int) -> None:
        capacity = block_size(size)
        idle = self._idle.get(capacity)
        if idle is None:
            idle = self._idle.setdefault(capacity, [])
        if (len(idle) + 1) * capacity <= self.IDLE_BYTES_PER_SIZE:
            idle.append(address)
        else:
            self._upstream.deallocate_bytes(address, capacity)

    def trim(self) -> bool:
        """Return all kept blocks to the upstream allocator.

        Return True if at least one block was returned.
        """
        found = False
        for capacity, idle in list(self._idle.items()):
            with suppress(IndexError):
                while True:
                    self._upstream.deallocate_bytes(idle.pop(), capacity)
                    found = True
        return found


class Ledger:
    """Counts live memory and allocations, and records their maxima.

    Any thread may use a ledger.  The garbage collector may interrupt a ledger's method to run a
    finalizer that frees a buffer, on the same thread.  Therefore, no method waits for a lock: each
    method appends an entry, and the thread that holds the lock adds up all entries.
    """

    def __init__(self) -> None:
        self.current_allocations = self.max_allocations = self.total_allocations = 0
        self.current_bytes = self.max_bytes = 0
        # (+1 or -1 allocation, bytes more or less)
        self._entries: deque[tuple[int, int]] = deque()
        self._adding_up = Lock()

    def allocated(self, size: int) -> None:
        """Record that `size` bytes were allocated."""
        self._entries.append((1, size))
        self._add_up()

    def deallocated(self, size: int) -> None:
        """Record that `size` bytes were freed."""
        self._entries.append((-1, -size))
        self._add_up()

    def _add_up(self) -> None:
        # Check again after the release: another thread may have added an entry while the lock was
        # held.
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


class ProfiledAllocator:
    """Counts the memory that it passes on from another allocator; `report` returns the counts."""

    banner = "Choosing profiled allocator based on malloc."

    def __init__(self, upstream: HostAllocator) -> None:
        self._upstream = upstream
        self.ledger = Ledger()

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        address = self._upstream.allocate_bytes(size, alignment)
        if address is not None:
            self.ledger.allocated(size)
        return address

    def deallocate_bytes(self, address: int, size: int) -> None:
        # Count first: as soon as the memory is free, another thread may get it, and the maximum
        # would then include it twice.
        self.ledger.deallocated(size)
        self._upstream.deallocate_bytes(address, size)

    def report(self) -> str:
        """Return the lines that a command-line program prints when it exits."""
        ledger = self.ledger
        return (
            "HostAllocator profile:\n"
            f"Current number of allocations = {ledger.current_allocations}\n"
            f"Max number of allocations = {ledger.max_allocations}\n"
            f"Total number of allocations = {ledger.total_allocations}\n"
            f"Current number of bytes allocated = {ledger.current_bytes}\n"
            f"Max number of bytes allocated = {ledger.max_bytes}\n"
        )


class LeakCheckAllocator(ProfiledAllocator):
    """Counts memory; reports only if some memory is still allocated at exit."""

    banner = "Choosing memory leak check allocator."

    @property
    def has_leak(self) -> bool:
        """Whether memory is still allocated, in which case a command-line program fails."""
        return self.ledger.current_allocations != 0

    def report(self) -> str:
        if not self.has_leak:
            return ""
        ledger = self.ledger
        return (
            f"{super().report()}Memory leak detected: {ledger.current_allocations} alive "
            f"allocations, {ledger.current_bytes} alive bytes\n"
        )


class FixedSizeAllocator:
    """Provides at most `CAPACITY` bytes, and reports each request to `log`.

    As in the reference implementation, each request also uses `HEADER_BYTES` for a header.
    """

    banner = "Choosing fixed size malloc."
    CAPACITY: Final = 1024
    HEADER_BYTES: Final = 64

    def __init__(self, upstream: HostAllocator, log: Callable[[str], None] | None = None) -> None:
        self._upstream = upstream
        self._log = log or (lambda line: print(line, end="", file=sys.stderr))
        self._ledger = Ledger()

    @property
    def remaining(self) -> int:
        """How many bytes are still free."""
        return self.CAPACITY - self._ledger.current_bytes

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        counted = self.HEADER_BYTES + size
        if counted > self.remaining:
            self._log(
                f"Attempted to allocate {counted} bytes. "
                f"However current capacity is only {self.remaining}.\n"
            )
            return None
        address = self._upstream.allocate_bytes(size, alignment)
        if address is not None:
            self._ledger.allocated(counted)
            self._log(f"Allocating {counted} bytes. {self.remaining} remaining.\n")
        return address

    def deallocate_bytes(self, address: int, size: int) -> None:
        self._ledger.deallocated(self.HEADER_BYTES + size)
        self._upstream.deallocate_bytes(address, size)


class PooledAllocator(RecyclingAllocator):
    """The default allocator: recycles memory from the C library."""

    banner = "Choosing malloc."

    def __init__(self, limit: Limit = default_budget) -> None:
        super().__init__(MallocAllocator(limit))


NamedAllocator = PooledAllocator | ProfiledAllocator | LeakCheckAllocator | FixedSizeAllocator

_FACTORIES: Final[dict[str, Callable[[Limit], NamedAllocator]]] = {
    "malloc": PooledAllocator,
    "profiled": lambda limit: ProfiledAllocator(PooledAllocator(limit)),
    "leak_check": lambda limit: LeakCheckAllocator(PooledAllocator(limit)),
    "fixed_size": lambda limit: FixedSizeAllocator(PooledAllocator(limit)),
}

ALLOCATOR_KINDS: Final = tuple(_FACTORIES)


def create_allocator(kind: str, limit: Limit = default_budget) -> NamedAllocator:
    """Create an allocator of the given kind, which is one of `ALLOCATOR_KINDS`.

    An allocation fails if native code and tensors would then hold more than `limit()` bytes.

    Raises:
        TfrtError: if no such kind exists.
    """
    if kind not in _FACTORIES:
        refuse(f"unknown allocator '{kind}': expected {', '.join(ALLOCATOR_KINDS)}")
    return _FACTORIES[kind](limit)
