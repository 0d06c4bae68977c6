"""The structs of AsyncValues, their waiters, tensors, and the store of memory for tensors."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# A cell is exactly one cache line, so two values never share a line.
CELL_SIZE = 64

struct(
    "VALUE",
    REFERENCES="",
    STATE=("The address of the newest waiter (16-aligned), with the state in the two low bits."),
    KIND="`payload type << 8 | KIND_CONCRETE or KIND_INDIRECT`",
    PAYLOAD="",
    PAYLOAD2="",
    NEXT="The next block of a free list, while the block is free.",
    OWNER=(
        "Promise of a task: the task's activation. Other values: their maker, for the leak view."
    ),
    ASYNC=(
        "Only in objects of compiled programs: OBJECT_HELD for each reference that the "
        "program has added, plus `bytes of storage << 2`, plus flags."
    ),
    TARGET=at(
        32,
        (
            "Indirect values: the target, with a reference. Objects of compiled programs: their "
            "present or future error. This is not the payload's word, because a producer may "
            "store the payload after another thread has resolved the object to an error."
        ),
    ),
    WAITING=at(
        32,
        ("Unresolved promises of tasks: the slot of the register that waits for the value, or 0."),
    ),
    STORAGE=line("The start of a payload that does not fit into the header."),
)
OBJECT_REGISTERED = 1
"""Flag: the list of objects holds a reference to the object, and VALUE_NEXT links the list."""
OBJECT_ABANDONED = 2
"""Flag: the runtime has resolved the object, so later calls of the producer are ignored."""
OBJECT_DISOWNED = 1 << 39
"""Flag: the program has dropped the producer's reference, so no code may resolve the object."""
OBJECT_SIZE_BITS = OBJECT_DISOWNED - 1
"""The mask for the size in VALUE_ASYNC and the flags below it."""
OBJECT_HELD = 1 << 40
"""One reference that the program has added explicitly, besides those that the compiler counts."""
INDIRECT_COPIES = 1
"""The payload of a run's unresolved result, which copies a number instead of referring to it.

The copy is needed because the result may outlive the compiled program's object for the number.
"""

UNCONSTRUCTED, CONSTRUCTED, CONCRETE, ERROR = range(4)
STATE_BITS = 3
KIND_CONCRETE, KIND_INDIRECT = 0, 1
KIND_BITS = 255

IMMORTAL = 1 << 60
"""Reference counts of at least this number never change.

Constants have such counts, because they outlive all programs that use them.
"""

# Payload types. Payloads of types below TYPE_OBJECT consist of plain bits. Other payloads must be
# released.
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
"""The payload is the address of a Python object, to which the value holds a reference."""
TYPE_ERROR = 33
"""The payload is the address of a Diagnostic, to which the value holds a reference.

Only errors have this type.
"""
TYPE_TENSOR = 34
"""The payload is the address of a tensor, to which the value holds a reference."""
TYPE_SHAPE = 35
"""Like TYPE_TENSOR, but the tensor is only a shape: it has no elements."""
TYPE_STORAGE = 40
"""The payload is memory after the header; VALUE_ASYNC holds its size."""
TYPE_GROUP = 41
"""The value is a group of tokens and values, and has no payload."""
TYPE_TENSOR_OF = 256
"""The factor for the rank in the type number of a user kernel's tensor argument.

The number is the elements' type + TYPE_TENSOR_OF * (rank + 1).
"""
TYPE_OUT = 1 << 32
"""The number that is added to a tensor argument's type number if the kernel writes the tensor."""

# Waiter: what happens when a value is resolved. WAITER_KIND is a WAIT_* constant, which determines
# the meaning of the operands FIRST, SECOND, and THIRD.
struct(
    "WAITER",
    NEXT="",
    KIND="",
    FIRST="",
    SECOND="",
    VALUE="The value to be resolved.",
    THIRD="",
    RUN="Waiting coroutines: the number of their run.",
    PLACE="Waiting coroutines: the record of the waiting operation, or 0.",
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

# Latch: lets a thread sleep until a value is resolved. The waiter and the thread both own the
# latch, so either may finish first.
struct(
    "LATCH",
    PENDING=(
        "1 until the value is resolved, then 0. LATCH_ASLEEP while compiled code sleeps on it."
    ),
    OWNERS="How many owners are left.",
)
LATCH_ASLEEP = 3

# Tensor: dense elements, or only a shape. AsyncValues and Python objects hold references to it.
struct(
    "TENSOR",
    REFERENCES="",
    ELEMENT=(
        "The payload type of the elements; 0 for a shape. Bools are TYPE_I1, with one byte each."
    ),
    RANK="",
    COUNT="How many elements the tensor has.",
    DATA="The address of the elements.",
    OWNER=(
        "The handle of the Python object that owns the elements; 0 if they are in the store's "
        "memory."
    ),
    STORE="The store that the memory is from, or 0.",
    BYTES=(
        "The size of the store's memory in bytes. If a Python object owns the elements: 0, or "
        "READ_ONLY."
    ),
    SIZES="",
)
READ_ONLY = -1
"""The value of TENSOR_BYTES for elements that must not be written.

Such elements may be in pages that the system protects.
"""

# Store: memory for tensors. It keeps free blocks, by size, for later tensors.
STORE_CLASSES = 180
SLOTS_PER_CLASS = 64
SMALLEST_BLOCK_BITS = 6
LARGEST_KEPT_BITS = 25
"""The exponent of the limit on the size of the free blocks that the store keeps.

The store immediately frees blocks of 2 ** LARGEST_KEPT_BITS bytes or more.  The kept blocks of one
class have at most 2 ** LARGEST_KEPT_BITS bytes in total.
"""
struct(
    "STORE",
    table=8 * STORE_CLASSES * SLOTS_PER_CLASS,
    TENSORS="How many tensors and shapes are alive.",
    PROCESS=line("The process whose budget counts the blocks."),
    SLOTS=line("For each size class, the addresses of free blocks; 0 for an empty slot."),
)
