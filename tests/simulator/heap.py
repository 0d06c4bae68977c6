"""Simulated memory: allocations with lifetimes, and the words in them.

Addresses are never reused, so every use after free is found. Each thread allocates from its own
arena, so its addresses do not depend on the allocations of others, and schedules that differ only
in the order of independent steps have the same addresses.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tests.simulator.failures import DoubleFree, Misaligned, OutOfBounds, UseAfterFree
from tests.simulator.words import Allocation, Word

WORD = 8
ALIGNMENT = 16
FIRST_ADDRESS = 0x10000
ARENA_BITS = 32
GUARD = 64
"""The number of unused bytes between allocations, so that an access just past the end is found."""


class Heap:
    """All allocations of a world, past and present."""

    def __init__(self) -> None:
        self._words: dict[int, Word] = {}
        self._arenas: dict[int, list[Allocation]] = {}
        self._starts: dict[int, list[int]] = {}

    def __iter__(self) -> Iterator[Allocation]:
        for arena in self._arenas.values():
            yield from arena

    def allocate(
        self, size: int, thread: int, time: int, maker: str, alignment: int = ALIGNMENT
    ) -> Allocation:
        """Allocate an uninitialized block of `size` bytes, at a multiple of `alignment`."""
        arena = self._arenas.setdefault(thread, [])
        address = (thread << ARENA_BITS) + FIRST_ADDRESS
        if arena:
            end = arena[-1].address + arena[-1].size + GUARD
            address = (end + alignment - 1) // alignment * alignment
        arena.append(Allocation(address, size, thread, time, maker))
        self._starts.setdefault(thread, []).append(address)
        return arena[-1]

    def release(self, address: int, thread: str) -> Allocation:
        """End the life of the block that starts at `address`."""
        found = self.find(address)
        if found is None or found.address != address:
            raise DoubleFree(f"{thread} releases {address:#x}, which is not a live allocation")
        if found.released_by:
            name, earlier = found.title, found.released_by
            raise DoubleFree(f"{thread} releases {name}, which {earlier} has already released")
        found.released_by = thread
        return found

    def clear(self, address: int, size: int, thread: int, time: int) -> list[Word]:
        """Fill untouched words with zero, and return those that have been touched."""
        first, last = self.word(address), self.word(address + size - WORD)
        if first.owner is not last.owner:
            raise OutOfBounds(f"clearing {size} bytes from {first.name} on passes its end")
        addresses = range(address, address + size, WORD)
        first.owner.cleared.append((addresses, thread, time))
        return [word for word in first.owner.words if word.address in addresses]

    def word(self, address: int) -> Word:
        """Return the word at `address`, which is a multiple of 8."""
        word = self._words.get(address)
        if word is None:
            word = self._touch(address)
        if word.owner.released_by:
            name, releaser = word.owner.name(address), word.owner.released_by
            raise UseAfterFree(f"access to {name}, which {releaser} has released")
        return word

    def _touch(self, address: int) -> Word:
        owner = self.find(address)
        if owner is None:
            raise OutOfBounds(f"access to {address:#x}, {self._neighbour(address)}")
        if address % WORD:
            raise Misaligned(f"access to {owner.name(address)}, which is not a multiple of {WORD}")
        word = Word(address, owner)
        owner.words.append(word)
        self._words[address] = word
        return word

    def find(self, address: int) -> Allocation | None:
        """Return the allocation that contains `address`, whether released or not."""
        owner = self._before(address)
        if owner is None or address >= owner.address + max(owner.size, 1):
            return None
        return owner

    def name(self, address: int) -> str:
        """Return a readable name of an address."""
        owner = self.find(address)
        return hex(address) if owner is None else owner.name(address)

    def _before(self, address: int) -> Allocation | None:
        arena = address >> ARENA_BITS
        position = bisect_right(self._starts.get(arena, ()), address)
        return self._arenas[arena][position - 1] if position else None

    def _neighbour(self, address: int) -> str:
        owner = self._before(address)
        if owner is None:
            return "which belongs to no allocation"
        past = address - owner.address - owner.size
        return f"{past} bytes past the end of {owner.title} ({owner.size} bytes)"
