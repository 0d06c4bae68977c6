"""The structs of compiled programs: groups, what they share, buffers, places that log.

As in `layouts`, which has the header of their objects; modules that read many import it as `co`.
"""

# Group: behind the header of a value, which becomes available when nothing is pending.
GROUP_ADDED = 64
GROUP_SIZE = 72
"""How many members it waits for."""
GROUP_EXCESS = 88
"""The record of the addition that was one too many, or 0."""
GROUP_ERROR = 80
"""The error of the first member that failed, with a reference, or 0."""
GROUP_PENDING = 128
"""Members that are missing, or not resolved; on a line of its own, as other threads count here."""
GROUP_STORAGE = 128
"""Bytes behind the header."""

# Async: what the compiled programs on one queue share.
ASYNC_OBJECTS = 0
"""The list of registered objects: groups, and all objects when references are checked."""
ASYNC_REGISTERED = 64
"""How many objects are in the list."""
ASYNC_LIMIT = 72
"""From so many registered objects on, a sweep for dead ones is worth its time."""
ASYNC_CHECKED = 80
"""1: every object is registered, so that a reference dropped too often is noticed."""
ASYNC_CANCELLED = 88
"""The error with which tasks end instead of starting, or 0."""
ASYNC_IMPORTS = 96
"""Objects that stand for host values which were unavailable: a stack of cells."""
ASYNC_IMPORTED = 104
"""How many cells are in the stack."""
ASYNC_SIZE = 128

STOP_ERROR = 0
"""The error value with which the tasks of a cancelled run end instead of starting."""
STOP_PLACES = 8
"""Pairs of words: a record of a place where code of the run ended, and the error value for it."""
MAX_STOP_PLACES = 16
STOP_SIZE = STOP_PLACES + 16 * MAX_STOP_PLACES

(
    EVENT_DESCRIBE,
    EVENT_WAITING,
    EVENT_RESOLVED_TWICE,
    EVENT_RELEASED_TOO_OFTEN,
    EVENT_OVERFILLED,
    EVENT_DROPPED_TOO_OFTEN,
    EVENT_THREAD,
    EVENT_LOOK,
    EVENT_FAILED,
    EVENT_BORROW_BUFFER,
    EVENT_RETURN_BUFFER,
    EVENT_TENSOR_ARRIVED,
    EVENT_BUFFER_ARRIVED,
    EVENT_CANCELLED,
    EVENT_SIGNAL,
    EVENT_INTERRUPTED,
    EVENT_REFUSED,
) = range(17)

# Handle of a buffer of compiled code: `address of its block | generation << HANDLE_SHIFT | HANDLE_CONSTANT`; see
# `coroutines.async_buffers`.
HANDLE_CONSTANT = 1
"""The elements must not be changed."""
HANDLE_SHIFT = 48
HANDLE_ADDRESS = (1 << HANDLE_SHIFT) - 8

# Block of a buffer: a header, then its elements.
BLOCK_GENERATION = 0
"""What live handles of the block say.  Written by the thread that has changed BLOCK_OWNER."""
BLOCK_OWNER = 8
"""Twice the generation; with BLOCK_KEPT, `memref.dealloc` must not give the block back.

A thread that gives a block back changes this word first, by compare-and-swap: of several one succeeds.
"""
BLOCK_KEPT = 1
BLOCK_NEXT = 16
"""The next handle in the stack of free blocks, or among the buffers of a function."""
BLOCK_SIZE = 24
BLOCK_CLASS = 32
BLOCK_HAS_PAGES = 40
"""Whether BUFFERS_PAGES counts the block.  Written by its owner."""
BLOCK_ELEMENTS = 64

# Buffers: what all threads share, PROCESS_BUFFERS.
BUFFERS_PAGES = 0
"""Bytes of large free blocks that the system has not got back."""
BUFFERS_STATIC = 8
"""Always 0: the header of what never ends."""
BUFFERS_DEAD = 16
"""Always 1: the header of what never was."""
BUFFERS_FREE = 64
"""A stack of handles for each size class."""
BUFFERS_CLASSES = 160
BUFFERS_SIZE = BUFFERS_FREE + 8 * BUFFERS_CLASSES

# Record of a place, in the code's own memory: a message and a file, each an address and its bytes, a line and a column.
PLACE_SIZE = 48

# Site: a place of watched compiled code that logs, in the code's own memory.
SITE_RECORD = 0
"""The record of the operation, as objects have it."""
SITE_RUN = 8
"""The run that has logged here last."""
SITE_COUNT = 16
"""How often it has."""
SITE_MOST = 256
"""A run logs about so many times at a site: a loop does not drive out what happens elsewhere."""
