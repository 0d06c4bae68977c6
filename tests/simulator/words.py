"""One word of simulated memory: its recent values, and which threads may still read which of them.

The model is release-acquire, as in C11 and LLVM, with read-modify-writes and sequentially
consistent fences. The atomic writes to a word form a list of messages. A load may read any message
that is not older than one that its thread is known to have seen. For example, if two threads each
store and then load the other's word, both may read the old value unless both use a fence. The model
allows more than a store buffer: everything found here can happen on some processor or after some
compiler.

Not modeled: relaxed atomics (native code has none), stores that enter the middle of the list, a
compare-and-swap that fails on an outdated value, and load-store reordering.
"""

from __future__ import annotations

ALL_BYTES = 0xFF


class Message:
    """One write. A thread that reads it with acquire learns its `clock` and `seen`.

    A plain write has no clock.  `defined` has one bit per byte that was written.
    `readers` maps a thread to its own time when it first read the message.
    """

    __slots__ = ("clock", "defined", "readers", "seen", "thread", "time", "value", "version")

    def __init__(self, value: int, defined: int, thread: int, time: int, version: int) -> None:
        self.value = value
        self.defined = defined
        self.thread = thread
        self.time = time
        self.version = version
        self.clock: tuple[int, ...] | None = None
        self.seen: tuple[int, ...] | None = None
        self.readers: dict[int, int] = {}

    def is_known_by(self, seen: list[int]) -> bool:
        """Return whether a thread that has seen `seen` knows of the write, or of any reader."""
        if self.time <= seen[self.thread]:
            return True
        return any(time <= seen[reader] for reader, time in self.readers.items())


class Word:
    """Eight bytes.  `messages` are the writes that some thread may still read, oldest first.

    `plain_readers` and `atomic_readers` map a thread to its own time at its last such read.
    """

    __slots__ = ("address", "atomic_readers", "messages", "owner", "plain_readers")

    def __init__(self, address: int, owner: Allocation) -> None:
        self.address = address
        self.owner = owner
        self.messages = [owner.first_message(address)]
        self.plain_readers: dict[int, int] = {}
        self.atomic_readers: dict[int, int] = {}

    @property
    def name(self) -> str:
        """The word's readable name."""
        return self.owner.name(self.address)

    def visible(self, seen: list[int]) -> list[Message]:
        """Return the messages that a thread that has seen `seen` may read, newest first."""
        found = []
        for message in reversed(self.messages):
            found.append(message)
            if message.is_known_by(seen):
                break
        return found


class Allocation:
    """A block of memory, from `allocate` to `release`. Addresses are never reused.

    Words are created when they are first touched; `cleared` has the ranges that a thread filled
    with zero before, with the thread and its time.
    """

    def __init__(self, address: int, size: int, thread: int, time: int, maker: str) -> None:
        self.address = address
        self.size = size
        self.thread = thread
        self.time = time
        self.maker = maker
        self.label = ""
        self.fields: dict[int, str] = {}
        self.words: list[Word] = []
        self.cleared: list[tuple[range, int, int]] = []
        self.released_by = ""
        self.kept = False

    def first_message(self, address: int) -> Message:
        """Return a word that has not been touched: zero if it was cleared, otherwise undefined."""
        for addresses, thread, time in reversed(self.cleared):
            if address in addresses:
                return Message(0, ALL_BYTES, thread, time, 0)
        return Message(0, 0, self.thread, self.time, 0)

    @property
    def title(self) -> str:
        """The allocation's readable name."""
        return self.label or f"{self.maker}@{self.address:#x}"

    def name(self, address: int) -> str:
        """Return the readable name of one of its words: `value.STATE`, or `value+8`."""
        offset = address - self.address
        if offset in self.fields:
            return f"{self.title}.{self.fields[offset]}"
        return f"{self.title}+{offset}" if offset else self.title
