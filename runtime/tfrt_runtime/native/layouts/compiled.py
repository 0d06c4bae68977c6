"""The structs of compiled programs: groups, shared state, buffers, and places that log events.

The header of the programs' objects is the struct VALUE in `values`.
"""

from tfrt_runtime.native.layouts.declared import at, line, struct

# Group: follows the header of a value that is resolved when no member is pending.
struct(
    "GROUP",
    ADDED=at(64, "How many members were added."),
    SIZE="How many members the group waits for.",
    ERROR="The error of the first member that failed, with a reference; or 0.",
    EXCESS="The record of the addition that was one too many, or 0.",
    PENDING=line("How many members are not resolved or not added yet. Other threads count here."),
    STORAGE=at(128, "The size of this struct after the header, in bytes."),
)

# Async: the state that compiled programs on one queue share.
struct(
    "ASYNC",
    size=128,
    OBJECTS=("The list of registered objects: all groups, and in a checked runtime all objects."),
    REGISTERED=line("How many objects are registered."),
    LIMIT="When more objects than this are registered, dead ones are swept.",
    CHECKED=("1 if all objects are registered, so that surplus drops of references are detected."),
    CANCELLED="The error with which new tasks end instead of starting, or 0.",
    IMPORTS="A stack of IMPORT cells: the objects that await a host value.",
    IMPORTED="How many imports there are: in ASYNC_IMPORTS, or held by a thread.",
)

MAX_STOP_PLACES = 16
struct(
    "STOP",
    table=16 * MAX_STOP_PLACES,
    ERROR="The error with which new tasks of a cancelled run end instead of starting.",
    PLACES=(
        "Pairs: the record of a place where the run's code stopped, and the error for that place."
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

# The handle of a buffer is `address of its block | generation << HANDLE_SHIFT | HANDLE_CONSTANT`;
# `coroutines.async_buffers` explains it.
HANDLE_CONSTANT = 1
"""Flag: the buffer's elements must not be changed."""
HANDLE_SHIFT = 48
HANDLE_ADDRESS = (1 << HANDLE_SHIFT) - 8

# Block: a buffer's memory, which is a header followed by the elements.
struct(
    "BLOCK",
    GENERATION=(
        "The generation in the block's live handles. Only the thread that has changed "
        "BLOCK_OWNER writes it."
    ),
    OWNER=(
        "Twice the generation, plus BLOCK_KEPT if `memref.dealloc` must not free the block. A "
        "thread that frees the block first swaps this word, so that only one thread succeeds."
    ),
    NEXT="The next handle in a stack of free blocks or in a function's list of buffers.",
    SIZE="",
    CLASS="",
    HAS_PAGES="1 if BUFFERS_PAGES counts the block. Only the block's owner writes it.",
    ELEMENTS=line(),
)
BLOCK_KEPT = 1

# Buffers: the state of all buffers of the process (PROCESS_BUFFERS).
BUFFERS_CLASSES = 160
struct(
    "BUFFERS",
    table=8 * BUFFERS_CLASSES,
    PAGES="How many bytes of large free blocks have not been returned to the system.",
    STATIC="Always 0: the header of memory that lives forever.",
    DEAD="Always 1: the header of memory that never existed.",
    FREE=line("For each size class, a stack of the handles of free blocks."),
)

# A place record is in the compiled code's own memory: the address and byte count of a message, the
# address and byte count of a file name, a line, and a column.
PLACE_SIZE = 48

# Site: a place in watched compiled code that logs events. It is in the code's own memory.
struct(
    "SITE",
    RECORD="The place record of the operation.",
    RUN="The number of the last run that has logged here.",
    COUNT="How many events that run has logged here.",
)
SITE_MOST = 256
"""The approximate maximum number of events that a run logs at one site.

Without this limit, a loop's events would displace those of other sites.
"""

# Pending: a cell for a buffer or tensor that has not arrived. Python reads the first three words.
struct(
    "PENDING",
    RECORD="The kernel that has the tensor as an argument or result.",
    SPEC="",
    DESCRIPTOR="The address of the buffer's descriptor.",
    VALUE="The host value of the tensor.",
    OBJECT="The value or object that is resolved when the buffer or tensor arrives.",
    REQUEST="",
)

# Import: a cell that refers to an object for a host value that was unavailable.
struct(
    "IMPORT",
    NEXT="",
    OBJECT="",
    REQUEST="",
)
