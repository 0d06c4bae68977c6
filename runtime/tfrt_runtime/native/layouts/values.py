"""AsyncValues, their payloads and waiters, tensors, and the store of memory for tensors."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# AsyncValue, and every other small cell: exactly one cache line, so that two values never share a
# line.
CELL_SIZE = 64

struct(
    "VALUE",
    REFERENCES="",
    STATE="Two bits of state below the address of the first waiter (waiters are 16-aligned).",
    KIND="`payload type << 8 | CONCRETE or INDIRECT`.",
    PAYLOAD="",
    PAYLOAD2="",
    NEXT="Next cell of a free list, while the cell is free.",
    OWNER=(
        "Its maker: an opaque number for the leak view; of the promise of a task, the task's "
        "activation."
    ),
    ASYNC=(
        "Objects of compiled programs only: OBJECT_HELD for each reference added by hand, plus "
        "the bytes of storage after the header `<< 2`, plus flags."
    ),
    TARGET=at(
        32,
        "Indirect values: the value that it forwards to, with a reference. Of an object of a "
        "compiled program it is the error that it is, or is about to become: never the word of "
        "the payload, which its producer may still fill when another thread has resolved the "
        "object to an error.",
    ),
    WAITING=at(
        32,
        "Promises of tasks, until they are resolved: the slot of the register that waits for "
        "it, or 0.",
    ),
    STORAGE=line("Where the storage of a value starts that does not fit into the header."),
)
OBJECT_REGISTERED = 1
"""The runtime's list of objects holds a reference; VALUE_NEXT links the list."""
OBJECT_ABANDONED = 2
"""The object was resolved on behalf of its producer; later calls by the producer are ignored."""
OBJECT_DISOWNED = 1 << 39
"""The program has dropped the producer's reference by hand, so no code may resolve the object."""
OBJECT_SIZE_BITS = OBJECT_DISOWNED - 1
"""The mask within VALUE_ASYNC for the size, including the flags below it."""
OBJECT_HELD = 1 << 40
"""Counts one reference that the program has added by hand, besides the references that its compiler
counts.
"""
INDIRECT_COPIES = 1
"""The payload of an unresolved indirect value that will become a copy of a number.

The copy may outlive the object, made by a compiled program, that held the number.
"""

UNCONSTRUCTED, CONSTRUCTED, CONCRETE, ERROR = range(4)
STATE_BITS = 3
KIND_CONCRETE, KIND_INDIRECT = 0, 1
KIND_BITS = 255

IMMORTAL = 1 << 60
"""Reference counts of this size and above never change, because constants outlive all programs
that use them.
"""

# Payload types. A payload of TYPE_OBJECT or above must be released; a payload of a lower type
# consists of plain bits.
(
    TYPE_UNKNOWN,
    TYPE_CHAIN,
    TYPE_I1,
    TYPE_I8,
    TYPE_I16,
    TYPE_I32,
    TYPE_I64,
    TYPE_UI8,
    TYPE_UI16,
    TYPE_UI32,
    TYPE_UI64,
    TYPE_F16,
    TYPE_BF16,
    TYPE_F32,
    TYPE_F64,
    TYPE_COMPLEX64,
    TYPE_COMPLEX128,
    TYPE_ATOMIC_I32,
) = range(18)
TYPE_OBJECT = 32
"""The payload is the address of a Python object, with a reference."""
TYPE_ERROR = 33
"""The payload is the address of a Diagnostic, which is a Python object.

Used only in the state ERROR.
"""
TYPE_TENSOR = 34
"""The payload is the address of a tensor, with a reference."""
TYPE_SHAPE = 35
"""The payload is the address of a tensor without elements, with a reference."""
TYPE_STORAGE = 40
"""The payload is ordinary memory after the header; VALUE_ASYNC holds its size."""
TYPE_GROUP = 41
"""There is no payload; the value is a group of tokens and values."""
TYPE_TENSOR_OF = 256
"""The type of a user kernel's tensor argument is the type of its elements plus this times (rank
+ 1).
"""
TYPE_OUT = 1 << 32
"""Added to the type if the kernel writes the tensor."""

# Waiter: the action to take when a value is resolved.
struct(
    "WAITER",
    NEXT="",
    KIND="",
    FIRST="",
    SECOND="",
    VALUE="The value that was waited for.",
    THIRD="",
    RUN="Coroutines that wait: the number of the run that they are part of.",
    PLACE="Coroutines that wait: the record of the operation that does, or 0.",
)

(
    WAIT_REGISTER,
    WAIT_FORWARD,
    WAIT_PYTHON,
    WAIT_END,
    WAIT_JOIN,
    WAIT_LATCH,
    WAIT_CALL,
    WAIT_TASK,
    WAIT_NOTIFY,
) = range(1, 10)

# Latch: lets a thread sleep until a value is resolved. The waiter and the sleeper own it together,
# so either may finish first.
struct(
    "LATCH",
    PENDING=(
        "1, or LATCH_ASLEEP while compiled code sleeps on it, until the value is resolved; then 0."
    ),
    OWNERS="",
)
LATCH_ASLEEP = 3

# Tensor: dense elements, or a shape if it has no data. AsyncValues and Python objects hold
# references to it.
struct(
    "TENSOR",
    REFERENCES="",
    ELEMENT=(
        "Its elements' type as the type of a payload; bool is TYPE_I1, one byte each. 0 for a "
        "shape."
    ),
    RANK="",
    COUNT="How many elements.",
    DATA="",
    OWNER=(
        "Handle of the Python object that the elements live as long as; 0 if they are the store's."
    ),
    STORE="",
    BYTES="Size of the store's memory; of an owner's memory 0, or READ_ONLY.",
    SIZES="",
)
READ_ONLY = -1
"""The value of TENSOR_BYTES if the memory must not be written.

The memory may be in pages that the system protects.
"""

# Store: memory of tensors, kept by size for later tensors.
STORE_CLASSES = 180
SLOTS_PER_CLASS = 64
SMALLEST_BLOCK_BITS = 6
LARGEST_KEPT_BITS = 25
"""The store keeps blocks of less than 2 to this power bytes; larger blocks are freed immediately.

The kept blocks of one class take at most 2 to this power bytes in total.
"""
struct(
    "STORE",
    table=8 * STORE_CLASSES * SLOTS_PER_CLASS,
    TENSORS="How many tensors and shapes are alive.",
    PROCESS=line("The process whose budget its blocks are counted in."),
    SLOTS=line("For each class of sizes, addresses of free blocks, 0 for an empty slot."),
)
