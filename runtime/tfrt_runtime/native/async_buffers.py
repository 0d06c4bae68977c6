"""The buffers that compiled code has allocated: so that each is given back once.

What a program gives back with `memref.dealloc` may be gone already, or may never have been allocated:
the C library would end the process.  So the addresses of what is there are kept in a table of buckets,
each a list behind a lock that is held for a few loads and stores.
"""

from __future__ import annotations

from tfrt_runtime.native.async_awaiting import here
from tfrt_runtime.native.async_value import give_cell, take_cell
from tfrt_runtime.native.layouts import CONTEXT_PROCESS, PROCESS_BUFFERS
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    exported,
    load,
    native,
    pause,
    store,
    store_release,
)

BUCKETS = 1024
"""A power of 2."""
BUCKET_SIZE = 16
BUCKET_LOCK = 0
"""1 while some thread changes the bucket."""
BUCKET_FIRST = 8
NOTE_NEXT = 0
NOTE_BUFFER = 8
TABLE_SIZE = BUCKETS * BUCKET_SIZE
NAMES = ("tfrtAsyncNoteBuffer", "tfrtAsyncTakeBuffer")
"""The C names of what compiled code calls."""


@native
def locked_bucket(context: Address, buffer: Address) -> Address:
    """The bucket that a buffer belongs to, which nobody else changes until it is unlocked."""
    table = load(load(context + CONTEXT_PROCESS) + PROCESS_BUFFERS)
    # Buffers are cache lines apart, large ones pages.
    place = (buffer >> 6) ^ (buffer >> 16)
    bucket = table + BUCKET_SIZE * (place & (BUCKETS - 1))
    while compare_and_swap(bucket + BUCKET_LOCK, 0, 1) == 0:
        pause()
    return bucket


@native
def note_buffer(context: Address, buffer: Address) -> None:
    """A buffer was allocated."""
    note = take_cell(context)
    store(note + NOTE_BUFFER, buffer)
    bucket = locked_bucket(context, buffer)
    store(note + NOTE_NEXT, load(bucket + BUCKET_FIRST))
    store(bucket + BUCKET_FIRST, note)
    store_release(bucket + BUCKET_LOCK, 0)


@entry
def take_buffer(context: Address, buffer: Address) -> int:
    """Whether a buffer is there; from now on it is not."""
    bucket = locked_bucket(context, buffer)
    before = bucket + BUCKET_FIRST - NOTE_NEXT
    note = load(before + NOTE_NEXT)
    while note != 0 and load(note + NOTE_BUFFER) != buffer:
        before = note
        note = load(before + NOTE_NEXT)
    if note != 0:
        store(before + NOTE_NEXT, load(note + NOTE_NEXT))
    store_release(bucket + BUCKET_LOCK, 0)
    if note == 0:
        return 0
    give_cell(context, note)
    return 1


@exported("tfrtAsyncNoteBuffer", "void", "ptr")
def note_buffer_here(buffer: Address) -> None:
    """Compiled code has allocated a buffer."""
    note_buffer(here(), buffer)


@exported("tfrtAsyncTakeBuffer", "i1", "ptr")
def take_buffer_here(buffer: Address) -> int:
    """Whether compiled code may give a buffer back; it may do so once."""
    return take_buffer(here(), buffer)
