"""Plain memory: lifetimes of blocks, and accesses that native code must order itself.

These accesses are not scheduling points: if another thread's access were unordered, that would be a
data race, which is an error in either order.
"""

from __future__ import annotations

from tests.simulator.bits import (
    bits_of,
    byte_mask,
    check_alignment,
    float_of,
    replace_bytes,
    signed,
)
from tests.simulator.core import Core, native_caller
from tests.simulator.heap import ALIGNMENT, WORD
from tests.simulator.races import check_plain_read, check_plain_write, check_release
from tests.simulator.threads import Thread
from tests.simulator.words import ALL_BYTES, Message, Word


class PlainMemory(Core):
    """Blocks, and plain reads and writes of words and of parts of words."""

    def allocate(self, size: int) -> int:
        """Allocate a block whose bytes are undefined."""
        return self.allocate_aligned(ALIGNMENT, size)

    def allocate_aligned(self, alignment: int, size: int) -> int:
        """Allocate like `allocate`, at a multiple of `alignment`; return 0 if refused."""
        if self.refuses():
            return 0
        thread = self._scheduler.current
        block = self._heap.allocate(size, thread.index, thread.time, native_caller(), alignment)
        self._tell_lifetime(thread, "allocate", block)
        return block.address

    def release(self, address: int) -> None:
        """End the life of a block; every access by any thread must come before."""
        thread = self._scheduler.current
        block = self._heap.release(address, thread.name)
        check_release(block, thread)
        self._tell_lifetime(thread, "release", block)

    def discard(self, address: int, size: int) -> None:
        """Do nothing; on a real machine, pages are returned to the system."""

    def load(self, address: int) -> int:
        """Read a word plainly."""
        thread = self._scheduler.current
        message = self._plain_read(thread, self._heap.word(address))
        if message.defined != ALL_BYTES:
            raise self._undefined(address)
        if self.machine.trace:
            self._tell(thread, "load", address, old=message.value)
        return message.value

    def store(self, address: int, value: int) -> None:
        """Write a word plainly."""
        thread = self._scheduler.current
        word = self._heap.word(address)
        if self.machine.trace:
            self._tell(thread, "store", address, new=value)
        self._plain_write(thread, word, signed(value), ALL_BYTES)

    def load_i32(self, address: int) -> int:
        """Read a 32-bit integer plainly."""
        return signed(self._load_bytes(address, 4, "load_i32"), 32)

    def store_i32(self, address: int, value: int) -> None:
        """Write the low 32 bits plainly."""
        self._store_bytes(address, 4, value, "store_i32")

    def load_f32(self, address: int) -> float:
        """Read a 32-bit float plainly."""
        return float_of(self._load_bytes(address, 4, "load_f32"), 4)

    def store_f32(self, address: int, value: float) -> None:
        """Write a float plainly, rounded to 32 bits."""
        self._store_bytes(address, 4, bits_of(value, 4), "store_f32")

    def load_f64(self, address: int) -> float:
        """Read a double plainly."""
        return float_of(self._load_bytes(address, 8, "load_f64"), 8)

    def store_f64(self, address: int, value: float) -> None:
        """Write a double plainly."""
        self._store_bytes(address, 8, bits_of(value, 8), "store_f64")

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy whole words by plain reads and writes; undefined bytes stay undefined."""
        thread = self._scheduler.current
        for offset in range(0, size, WORD):
            message = self._plain_read(thread, self._heap.word(source + offset))
            word = self._heap.word(target + offset)
            self._plain_write(thread, word, message.value, message.defined)
        self._tell(thread, "copy", target, note=f"{size} bytes from {self._heap.name(source)}")

    def clear(self, target: int, size: int) -> None:
        """Clear whole words by plain writes."""
        thread = self._scheduler.current
        for word in self._heap.clear(target, size, thread.index, thread.time) if size else []:
            self._plain_write(thread, word, 0, ALL_BYTES)
        self._tell(thread, "clear", target, note=f"{size} bytes")

    def _load_bytes(self, address: int, size: int, operation: str) -> int:
        thread = self._scheduler.current
        shift = check_alignment(self._heap, address, size)
        message = self._plain_read(thread, self._heap.word(address - shift))
        if ~message.defined & byte_mask(shift, size):
            raise self._undefined(address)
        bits = message.value >> 8 * shift & (1 << 8 * size) - 1
        self._tell(thread, operation, address, old=bits)
        return bits

    def _store_bytes(self, address: int, size: int, value: int, operation: str) -> None:
        thread = self._scheduler.current
        shift = check_alignment(self._heap, address, size)
        word = self._heap.word(address - shift)
        before = word.messages[-1]
        bits = replace_bytes(before.value, shift, size, value)
        self._tell(thread, operation, address, new=value)
        self._plain_write(thread, word, bits, before.defined | byte_mask(shift, size))

    def _plain_read(self, thread: Thread, word: Word) -> Message:
        messages = word.messages
        newest = messages[-1]
        if newest.thread != thread.index or len(messages) > 1:
            check_plain_read(word, thread)
        word.plain_readers[thread.index] = thread.clock[thread.index]
        return newest

    def _plain_write(self, thread: Thread, word: Word, value: int, defined: int) -> None:
        check_plain_write(word, thread)
        version = word.messages[-1].version + 1
        # All later readers of this word are ordered after this write, so older values are gone.
        word.messages = [Message(value, defined, thread.index, thread.time, version)]
        word.plain_readers = {}
        word.atomic_readers = {}
