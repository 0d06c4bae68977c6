"""Find data races: unordered accesses to a word, at least one a write and at least one plain.

An access is identified by its thread and that thread's own time; another thread's vector clock says
whether it comes before. Because clocks decide the order, not timing, a race is found on any
schedule in which both accesses happen, however far apart.
"""

from __future__ import annotations

from tests.simulator.failures import DataRace
from tests.simulator.threads import Thread
from tests.simulator.words import Allocation, Message, Word


def check_plain_read(word: Word, thread: Thread) -> None:
    """Check that every write is ordered before a plain read."""
    for message in word.messages:
        if message.time > thread.clock[message.thread]:
            raise _race(word, thread, "a plain read", _write(message), message.thread)


def check_plain_write(word: Word, thread: Thread, what: str = "a plain write") -> None:
    """Check that every other access is ordered before a plain write or a release."""
    for message in word.messages:
        if message.time > thread.clock[message.thread]:
            raise _race(word, thread, what, _write(message), message.thread)
    if word.plain_readers:
        _check_after(word, thread, what, word.plain_readers, "a plain read")
    if word.atomic_readers:
        _check_after(word, thread, what, word.atomic_readers, "an atomic read")


def check_atomic_read(word: Word, thread: Thread) -> None:
    """Check that the plain write, if any, is ordered before an atomic read."""
    first = word.messages[0]
    if first.clock is None and first.time > thread.clock[first.thread]:
        raise _race(word, thread, "an atomic read", _write(first), first.thread)


def check_atomic_write(word: Word, thread: Thread) -> None:
    """Check that all plain accesses are ordered before an atomic write."""
    first = word.messages[0]
    if first.clock is None and first.time > thread.clock[first.thread]:
        raise _race(word, thread, "an atomic write", _write(first), first.thread)
    if word.plain_readers:
        _check_after(word, thread, "an atomic write", word.plain_readers, "a plain read")


def check_release(allocation: Allocation, thread: Thread) -> None:
    """Check that every access to an allocation is ordered before its release."""
    for word in allocation.words:
        check_plain_write(word, thread, "the release")


def _check_after(
    word: Word, thread: Thread, what: str, readers: dict[int, int], other: str
) -> None:
    for reader, time in readers.items():
        if time > thread.clock[reader]:
            raise _race(word, thread, what, other, reader)


def _write(message: Message) -> str:
    if message.version == 0 and not message.defined:
        return "the allocation"
    return "a plain write" if message.clock is None else "an atomic write"


def _race(word: Word, thread: Thread, what: str, other: str, other_thread: int) -> DataRace:
    return DataRace(
        f"data race on {word.name}: nothing orders {what} by {thread.name} "
        f"after {other} by {thread.names[other_thread]}"
    )
