"""Atomics: the operations by which threads see each other, each of them a scheduling point."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulator.bits import signed
from tests.simulator.core import Machine, MemoryModel
from tests.simulator.footprints import FENCES, Access, Way
from tests.simulator.plain import PlainMemory
from tests.simulator.races import check_atomic_read, check_atomic_write
from tests.simulator.scheduler import Chooser
from tests.simulator.threads import Kind, Thread, join
from tests.simulator.words import ALL_BYTES, Message, Word


class Atomics(PlainMemory):
    """Loads, stores, read-modify-writes, and fences, as `words` describes them."""

    def __init__(self, chooser: Chooser, machine: Machine) -> None:
        super().__init__(chooser, machine)
        self._fences: list[int] = []
        self._is_weak = machine.model is MemoryModel.RELEASE_ACQUIRE

    def load_acquire(self, address: int) -> int:
        """Read atomically; the value may be outdated."""
        thread, word = self._step(Kind.LOAD, address)
        check_atomic_read(word, thread)
        newest = message = word.messages[-1]
        if self._is_weak:
            visible = word.visible(thread.seen)
            labels = [candidate.version for candidate in visible]
            message = visible[self._scheduler.value(thread, labels)]
        self._atomic_read(thread, word, message)
        way = Way.OBSERVE if self._is_weak else Way.READ
        self._scheduler.performed(thread, Access(address, way, message.version))
        note = "" if message is newest else f"outdated: newest is {newest.value}"
        self._tell(thread, "load_acquire", address, old=message.value, note=note)
        return message.value

    def store_release(self, address: int, value: int) -> None:
        """Write atomically, and publish everything before the write."""
        thread, word = self._step(Kind.STORE, address)
        check_atomic_write(word, thread)
        self._tell(thread, "store_release", address, new=value)
        self._atomic_write(thread, word, signed(value))

    def fetch_add(self, address: int, value: int) -> int:
        """Read and write the newest value atomically."""
        return self._update(address, "fetch_add", lambda old: old + value)

    def exchange(self, address: int, value: int) -> int:
        """Read and write the newest value atomically."""
        return self._update(address, "exchange", lambda _: value)

    def compare_and_swap(self, address: int, old: int, new: int) -> int:
        """Read the newest value atomically, and write `new` if it is `old`."""
        thread, word = self._step(Kind.UPDATE, address)
        check_atomic_read(word, thread)
        newest = word.messages[-1]
        self._atomic_read(thread, word, newest)
        if newest.value != signed(old):
            self._scheduler.performed(thread, Access(address, Way.READ, newest.version))
            self._tell(thread, "compare_and_swap", address, old=newest.value, note="fails")
            return 0
        check_atomic_write(word, thread)
        self._tell(thread, "compare_and_swap", address, old=newest.value, new=new)
        self._atomic_write(thread, word, signed(new))
        return 1

    def fence(self) -> None:
        """Make the thread see all that each thread had written or read before its last fence."""
        thread = self._scheduler.step(Kind.FENCE)
        join(thread.seen, self._fences)
        self._fences = list(thread.seen)
        thread.tick()
        self._scheduler.performed(thread, Access(FENCES, Way.WRITE))
        self._tell(thread, "fence", 0)

    def _step(self, kind: Kind, address: int) -> tuple[Thread, Word]:
        """Wait for the current thread's turn to do something with the word at `address`."""
        thread = self._scheduler.step(kind, self._heap.word(address))
        return thread, self._heap.word(address)

    def _update(self, address: int, operation: str, change: Callable[[int], int]) -> int:
        thread, word = self._step(Kind.UPDATE, address)
        check_atomic_write(word, thread)
        newest = word.messages[-1]
        self._atomic_read(thread, word, newest)
        value = signed(change(newest.value))
        self._tell(thread, operation, address, old=newest.value, new=value)
        self._atomic_write(thread, word, value)
        return newest.value

    def _atomic_read(self, thread: Thread, word: Word, message: Message) -> None:
        if message.defined != ALL_BYTES:
            raise self._undefined(word.address)
        message.readers.setdefault(thread.index, thread.time)
        word.atomic_readers[thread.index] = thread.time
        thread.observed[word] = message.version
        if message.clock is not None and message.seen is not None:
            thread.learn(message.clock, message.seen)

    def _atomic_write(self, thread: Thread, word: Word, value: int) -> None:
        version = word.messages[-1].version + 1
        message = Message(value, ALL_BYTES, thread.index, thread.time, version)
        message.clock, message.seen = tuple(thread.clock), tuple(thread.seen)
        word.messages.append(message)
        thread.tick()
        thread.wrote = True
        self._scheduler.writes += 1
        self._scheduler.performed(thread, Access(word.address, Way.WRITE, version))
