"""Test allocators: what they refuse, recycle, count, and report."""

from __future__ import annotations

import ctypes
import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.allocator import (
    ALLOCATOR_KINDS,
    FixedSizeAllocator,
    LeakCheckAllocator,
    Ledger,
    MallocAllocator,
    ProfiledAllocator,
    RecyclingAllocator,
    block_size,
    create_allocator,
)
from tfrt_runtime.host.process import native_process


class Notebook:
    """An allocator of `limit` bytes that hands out numbers and remembers them."""

    def __init__(self, limit: int = 1 << 40) -> None:
        self.limit = limit
        self.alive: Counter[tuple[int, int]] = Counter()
        self.requests: list[tuple[int, int]] = []
        self._next = 1 << 20

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        if sum(count for _, count in self.alive) + size > self.limit:
            return None
        self.requests.append((size, alignment))
        address, self._next = self._next, self._next + (2 << 20)
        self.alive[address, size] = 1
        return address

    def deallocate_bytes(self, address: int, size: int) -> None:
        del self.alive[address, size]


def test_the_kinds_have_the_drivers_banners() -> None:
    assert {kind: create_allocator(kind).banner for kind in ALLOCATOR_KINDS} == {
        "malloc": "Choosing malloc.",
        "profiled": "Choosing profiled allocator based on malloc.",
        "leak_check": "Choosing memory leak check allocator.",
        "fixed_size": "Choosing fixed size malloc.",
    }


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        TfrtError, match="unknown allocator 'tcmalloc': expected malloc, profiled, "
    ):
        create_allocator("tcmalloc")


@pytest.mark.parametrize("kind", ALLOCATOR_KINDS)
@pytest.mark.parametrize(("size", "alignment"), [(0, 1), (1, 1), (33, 8), (100, 64), (512, 4096)])
def test_memory_of_every_kind_is_aligned_and_writable(kind: str, size: int, alignment: int) -> None:
    allocator = create_allocator(kind)
    address = allocator.allocate_bytes(size, alignment)
    assert address is not None and address % alignment == 0
    ctypes.memset(address, 0xAB, size)
    assert ctypes.string_at(address, size) == b"\xab" * size
    allocator.deallocate_bytes(address, size)


@pytest.mark.parametrize("kind", ALLOCATOR_KINDS)
@pytest.mark.parametrize("size", [1 << 62, 1 << 50, (1 << 64) + 8])
def test_no_kind_promises_more_than_the_machine_has(kind: str, size: int) -> None:
    assert create_allocator(kind).allocate_bytes(size, 8) is None


def test_malloc_keeps_to_its_limit_in_all() -> None:
    held = native_process().memory_held
    allocator = MallocAllocator(lambda: held + 1000)
    first = allocator.allocate_bytes(600, 8)
    refused = allocator.allocate_bytes(600, 8)
    assert first is not None
    allocator.deallocate_bytes(first, 600)
    second = allocator.allocate_bytes(1000, 8)
    assert second is not None
    allocator.deallocate_bytes(second, 1000)
    assert refused is None


# --- recycling ---


def test_what_is_given_back_serves_the_next_request_of_about_its_size() -> None:
    allocator = RecyclingAllocator(upstream := Notebook())
    first = allocator.allocate_bytes(1000, 64)
    assert first is not None
    allocator.deallocate_bytes(first, 1000)
    assert allocator.allocate_bytes(1010, 16) == first
    assert allocator.allocate_bytes(1000, 64) != first
    assert upstream.requests == [(1024, 64)] * 2


def test_a_recycled_block_is_not_given_to_who_asks_for_more_alignment() -> None:
    allocator = RecyclingAllocator(upstream := Notebook())
    first = allocator.allocate_bytes(64, 64)
    assert first is not None
    allocator.deallocate_bytes(first, 64)
    assert allocator.allocate_bytes(64, 4096) != first
    assert upstream.requests == [(64, 64), (64, 4096)]


def test_large_blocks_go_straight_back() -> None:
    allocator = RecyclingAllocator(upstream := Notebook())
    size = RecyclingAllocator.IDLE_BYTES_PER_SIZE + 1
    address = allocator.allocate_bytes(size, 64)
    assert address is not None
    allocator.deallocate_bytes(address, size)
    assert not upstream.alive


def test_idle_blocks_are_given_up_before_a_request_is_refused() -> None:
    allocator = RecyclingAllocator(upstream := Notebook(limit=1024))
    first = allocator.allocate_bytes(512, 64)
    assert first is not None
    allocator.deallocate_bytes(first, 512)
    second = allocator.allocate_bytes(1024, 64)
    assert second is not None
    assert list(upstream.alive) == [(second, 1024)]
    assert allocator.allocate_bytes(64, 64) is None


@given(st.integers(0, 1 << 40))
def test_a_block_is_at_most_a_quarter_larger_than_asked_for(size: int) -> None:
    capacity = block_size(size)
    assert size <= capacity <= max(size + 64, size * 5 // 4)
    assert block_size(capacity) == capacity


class RecyclingMachine(RuleBasedStateMachine):
    """Checks that no address has two owners, in whatever order memory is requested and freed."""

    def __init__(self) -> None:
        super().__init__()
        self.upstream = Notebook()
        self.allocator = RecyclingAllocator(self.upstream)
        self.owned: list[tuple[int, int]] = []

    @rule(size=st.integers(0, 300), alignment=st.sampled_from([1, 64, 128]))
    def allocate(self, size: int, alignment: int) -> None:
        address = self.allocator.allocate_bytes(size, alignment)
        assert address is not None
        self.owned.append((address, size))

    @rule(data=st.data())
    @precondition(lambda self: self.owned)
    def deallocate(self, data: st.DataObject) -> None:
        index = data.draw(st.integers(0, len(self.owned) - 1))
        self.allocator.deallocate_bytes(*self.owned.pop(index))

    @rule()
    def trim(self) -> None:
        self.allocator.trim()
        assert len(self.upstream.alive) == len(self.owned)

    @invariant()
    def every_block_has_one_owner_and_is_large_enough(self) -> None:
        blocks = dict(self.upstream.alive.keys())
        assert len({address for address, _ in self.owned}) == len(self.owned)
        assert all(size <= blocks[address] for address, size in self.owned)


TestRecyclingMachine = RecyclingMachine.TestCase


# --- counting ---


def test_a_leak_is_reported_and_its_absence_is_not() -> None:
    allocator = LeakCheckAllocator(Notebook())
    address = allocator.allocate_bytes(4, 4)
    assert address is not None
    leaking, report = allocator.has_leak, allocator.report()
    allocator.deallocate_bytes(address, 4)
    assert leaking
    assert report == (
        "HostAllocator profile:\n"
        "Current number of allocations = 1\n"
        "Max number of allocations = 1\n"
        "Total number of allocations = 1\n"
        "Current number of bytes allocated = 4\n"
        "Max number of bytes allocated = 4\n"
        "Memory leak detected: 1 alive allocations, 4 alive bytes\n"
    )
    assert (allocator.has_leak, allocator.report()) == (False, "")


def test_a_refused_request_is_not_counted() -> None:
    allocator = ProfiledAllocator(Notebook(limit=0))
    assert allocator.allocate_bytes(8, 8) is None
    assert allocator.ledger.total_allocations == 0


def test_a_fixed_size_is_handed_out_and_taken_back() -> None:
    log: list[str] = []
    allocator = FixedSizeAllocator(Notebook(), log=log.append)
    first = allocator.allocate_bytes(900, 8)
    assert first is not None
    refused = allocator.allocate_bytes(0, 8)
    allocator.deallocate_bytes(first, 900)
    assert (refused, allocator.remaining) == (None, 1024)
    assert log == [
        "Allocating 964 bytes. 60 remaining.\n",
        "Attempted to allocate 64 bytes. However current capacity is only 60.\n",
    ]


# --- the ledger ---


def test_an_entry_left_by_a_finaliser_in_the_middle_of_another_is_not_lost() -> None:
    class Interrupted(Ledger):
        def _add(self, allocations: int, size: int) -> None:
            if size == 100:
                self.deallocated(10)
            super()._add(allocations, size)

    ledger = Interrupted()
    ledger.allocated(10)
    ledger.allocated(100)
    assert (ledger.current_allocations, ledger.current_bytes) == (1, 100)


def test_entries_of_many_threads_add_up() -> None:
    def record() -> None:
        for _ in range(500):
            ledger.allocated(3)
            ledger.deallocated(3)
            ledger.allocated(1)

    ledger = Ledger()
    threads = [threading.Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ledger.current_allocations, ledger.current_bytes) == (2000, 2000)
    assert ledger.total_allocations == 4000
