"""Compiled programs: groups, the state that the programs share, buffers, and places that log
events.

`values` declares the header of the programs' objects.
"""

from tfrt_runtime.native.layouts.declared import at, line, struct

# Group: follows the header of a value that becomes available when no member is pending.
struct(
    "GROUP",
    ADDED=at(64),
    SIZE="How many members it waits for.",
    ERROR="The error of the first member that failed, with a reference, or 0.",
    EXCESS="The record of the addition that was one too many, or 0.",
    PENDING=line(
        "Members that are missing, or not resolved; on a line of its own, as other threads "
        "count here.",
    ),
    STORAGE=at(128, "Bytes after the header."),
)

# Async: the state that the compiled programs on one queue share.
struct(
    "ASYNC",
    size=128,
    OBJECTS=(
        "The list of registered objects: groups, and all objects when references are checked."
    ),
    REGISTERED=line("How many objects are in the list."),
    LIMIT="The number of registered objects from which a sweep for dead ones pays off.",
    CHECKED="1: every object is registered, so that a reference dropped too often is noticed.",
    CANCELLED="The error with which tasks end instead of starting, or 0.",
    IMPORTS="Objects for host values that were unavailable: a stack of cells.",
    IMPORTED="How many cells are in the stack.",
)

MAX_STOP_PLACES = 16
struct(
    "STOP",
    table=16 * MAX_STOP_PLACES,
    ERROR="The error value with which the tasks of a cancelled run end instead of starting.",
    PLACES=(
        "Pairs of words: a record of a place where code of the run ended, and the error value "
        "for it."
    ),
)

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

# The handle of a compiled program's buffer: `address of its block | generation << HANDLE_SHIFT |
# HANDLE_CONSTANT`; see `coroutines.async_buffers`.
HANDLE_CONSTANT = 1
"""The elements must not be changed."""
HANDLE_SHIFT = 48
HANDLE_ADDRESS = (1 << HANDLE_SHIFT) - 8

# Block of a buffer: a header, then its elements.
struct(
    "BLOCK",
    GENERATION=(
        "What live handles of the block say. Written by the thread that has changed BLOCK_OWNER."
    ),
    OWNER=(
        "Twice the generation; with BLOCK_KEPT, `memref.dealloc` must not give the block back. "
        "A thread that gives a block back changes this word first, by compare-and-swap: of "
        "several one succeeds."
    ),
    NEXT="The next handle in the stack of free blocks, or among the buffers of a function.",
    SIZE="",
    CLASS="",
    HAS_PAGES="Whether BUFFERS_PAGES counts the block. Written by its owner.",
    ELEMENTS=line(),
)
BLOCK_KEPT = 1

# Buffers: the state that all threads share; PROCESS_BUFFERS points to it.
BUFFERS_CLASSES = 160
struct(
    "BUFFERS",
    table=8 * BUFFERS_CLASSES,
    PAGES="Bytes of large free blocks that the system has not got back.",
    STATIC="Always 0: the header of what never ends.",
    DEAD="Always 1: the header of what never was.",
    FREE=line("A stack of handles for each size class."),
)

# The record of a place, in the code's own memory: a message and a file, each as its address and
# byte count, then a line and a column.
PLACE_SIZE = 48

# Site: a place of watched compiled code that logs, in the code's own memory.
struct(
    "SITE",
    RECORD="The record of the operation, as objects have it.",
    RUN="The run that has logged here last.",
    COUNT="How often it has.",
)
SITE_MOST = 256
"""The approximate number of events that a run logs at one site.

Without this limit, a loop would displace the events of other sites.
"""

# Pending: a buffer or a tensor that is being waited for, in a cell. Python reads the first three
# words.
struct(
    "PENDING",
    RECORD="The kernel that has the tensor among its arguments.",
    SPEC="",
    DESCRIPTOR="Address of the descriptor.",
    VALUE="The tensor's host value.",
    OBJECT="Its counterpart that is to be resolved.",
    REQUEST="",
)

# Import: a reference to the object that represents an unavailable host value.
struct(
    "IMPORT",
    NEXT="",
    OBJECT="",
    REQUEST="",
)
