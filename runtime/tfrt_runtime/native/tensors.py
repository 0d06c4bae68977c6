"""Tensors for native kernels: their descriptors, and the memory for their elements.

A tensor is a small block that holds the type, the sizes, and the address of the elements.  It is
reference-counted: each AsyncValue whose payload is the tensor holds a reference, and so does each
Python object that represents the tensor.  The elements' memory belongs to the store or to a Python
object.

The store keeps free blocks for later tensors of about the same size.  This helps a program that
runs repeatedly, because fresh pages cost more than most kernels.  The store has a row of slots for
each size class.  One `compare_and_swap` puts a block into an empty slot, and one `exchange` takes a
block out, so the store needs no lock.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import give_back, give_block, need_block, reclaim, reserve
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    call2,
    compare_and_swap,
    entry,
    exchange,
    fetch_add,
    load,
    load_acquire,
    native,
    outline,
    release,
    store,
)
from tfrt_runtime.native.trimming import trim

MAX_ELEMENTS_BITS = 48
"""The exponent of the limit on a tensor's element count.

A tensor has fewer than 2 ** MAX_ELEMENTS_BITS elements, so that its byte count fits into a word.
"""


@native
def size_bits(size: int) -> int:
    """Return the bit length of `size`, but at least SMALLEST_BLOCK_BITS."""
    bits = at.SMALLEST_BLOCK_BITS
    while size >> bits != 0:
        bits += 1
    return bits


@native
def unit_bits(bits: int) -> int:
    """Return the exponent of the power of two that is the unit for sizes of `bits` bits.

    A block has at most eight units, and a large block has at least four.
    """
    return max(bits - 3, at.SMALLEST_BLOCK_BITS)


@native
def unit_count(size: int, unit: int) -> int:
    """Return how many units of `2 ** unit` bytes are needed for `size` bytes, but at least 1."""
    return max((size + (1 << unit) - 1) >> unit, 1)


@native
def block_size(size: int) -> int:
    """Return the size of the block that is allocated for `size` bytes."""
    unit = unit_bits(size_bits(size))
    return unit_count(size, unit) << unit


@native
def first_slot(memory_store: Address, size: int) -> Address:
    """Return the address of the row of slots for blocks of `size` bytes."""
    bits = size_bits(size)
    # Unit counts range from 1 to 8, so nine rows per power of two suffice.
    row = (bits - at.SMALLEST_BLOCK_BITS) * 9 + unit_count(size, unit_bits(bits))
    return memory_store + at.STORE_SLOTS + 8 * at.SLOTS_PER_CLASS * row


@native
def slots_used(size: int) -> int:
    """Return how many slots of a row are used for blocks of `size` bytes: few for large blocks."""
    return min(at.SLOTS_PER_CLASS, (1 << at.LARGEST_KEPT_BITS) // block_size(size))


@native
def take_memory(context: Address, memory_store: Address, size: int) -> Address:
    """Return a block of at least `size` bytes with undefined contents, or 0 if out of memory."""
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # Load first: an exchange would take the cache line of an empty slot away from other
            # threads.
            if load_acquire(slot + 8 * i) != 0:
                block = exchange(slot + 8 * i, 0)
                if block != 0:
                    # The budget still counts a kept block, so taking it changes no count.
                    return block
    block = fresh_memory(context, block_size(size))
    if block == 0 and reclaim(load(context + at.CONTEXT_PROCESS)) != 0:
        # `reclaim` has freed memory that counted toward the budget.
        block = fresh_memory(context, block_size(size))
    return block


@outline
def fresh_memory(context: Address, size: int) -> Address:
    """Allocate a block from the C library.

    Return 0 if the block would exceed the budget or the system is out of memory.
    """
    if not reserve(context, size):
        return 0
    block = allocate(size)
    if block == 0:
        give_back(load(context + at.CONTEXT_PROCESS), size)
    return block


@native
def give_memory(memory_store: Address, block: Address, size: int) -> None:
    """Free a block that `take_memory` returned; `size` is the size that was requested."""
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # A slot has no link to another block, so there is no ABA problem.
            is_free = load_acquire(slot + 8 * i) == 0
            if is_free and compare_and_swap(slot + 8 * i, 0, block) != 0:
                return
    release(block)
    give_back(load(memory_store + at.STORE_PROCESS), block_size(size))


@entry
def reclaim_all(process: Address, _unused: int) -> int:
    """Free the memory that the process keeps for reuse; `cells.reclaim` calls this."""
    found = trim(process, 0)
    if load(process + at.PROCESS_STORE) != 0:
        found += trim_store(load(process + at.PROCESS_STORE))
    return found


@entry
def trim_store(memory_store: Address) -> int:
    """Release all free blocks to the C library; return 1 if there were any, else 0."""
    found = 0
    for bits in range(at.SMALLEST_BLOCK_BITS, at.LARGEST_KEPT_BITS + 1):
        unit = unit_bits(bits)
        for units in range(1, 9):
            row = (bits - at.SMALLEST_BLOCK_BITS) * 9 + units
            first = memory_store + at.STORE_SLOTS + 8 * at.SLOTS_PER_CLASS * row
            found |= trim_row(memory_store, first, units << unit)
    return found


@native
def trim_row(memory_store: Address, first: Address, size: int) -> int:
    """Release the free blocks of one size class, as `trim_store` does for all."""
    found = 0
    for i in range(at.SLOTS_PER_CLASS):
        if load_acquire(first + 8 * i) != 0:
            block = exchange(first + 8 * i, 0)
            if block != 0:
                release(block)
                give_back(load(memory_store + at.STORE_PROCESS), size)
                found = 1
    return found


@native
def made_tensor(
    context: Address,
    memory_store: Address,
    element: int,
    rank: int,
    count: int,
    data: Address,
    owner: int,
    size: int,
) -> Address:
    """Make a tensor or a shape with one reference; the caller must store its sizes."""
    tensor = need_block(context, at.TENSOR_SIZES + 8 * rank)
    store(tensor + at.TENSOR_REFERENCES, 1)
    store(tensor + at.TENSOR_ELEMENT, element)
    store(tensor + at.TENSOR_RANK, rank)
    store(tensor + at.TENSOR_COUNT, count)
    store(tensor + at.TENSOR_DATA, data)
    store(tensor + at.TENSOR_OWNER, owner)
    store(tensor + at.TENSOR_STORE, memory_store)
    store(tensor + at.TENSOR_BYTES, size)
    fetch_add(memory_store + at.STORE_TENSORS, 1)
    return tensor


@native
def new_shape(context: Address, memory_store: Address, rank: int, count: int) -> Address:
    """Make a shape of `count` elements with one reference; the caller must store its sizes."""
    return made_tensor(context, memory_store, 0, rank, count, 0, 0, 0)


@native
def new_tensor(
    context: Address, memory_store: Address, element: int, element_size: int, like: Address
) -> Address:
    """Make a tensor with the shape of `like`, undefined elements, and one reference.

    Return 0 if out of memory or if the tensor would have too many elements.  Also return 0 for a
    tensor without elements, because numpy decides which shapes with a size of 0 are valid.
    """
    # Allocate the elements first, so that nothing has to be undone if that fails.
    count, rank = load(like + at.TENSOR_COUNT), load(like + at.TENSOR_RANK)
    if count == 0 or count >> MAX_ELEMENTS_BITS != 0:
        return 0
    size = count * element_size
    data = take_memory(context, memory_store, size)
    if data == 0:
        return 0
    tensor = made_tensor(context, memory_store, element, rank, count, data, 0, size)
    for i in range(rank):
        store(tensor + at.TENSOR_SIZES + 8 * i, load(like + at.TENSOR_SIZES + 8 * i))
    return tensor


@entry
def tensor_over(
    context: Address,
    memory_store: Address,
    element: int,
    rank: int,
    count: int,
    data: Address,
    owner: int,
) -> Address:
    """Make a tensor over a Python object's memory; the caller must store its sizes.

    `owner` is a handle of that object, which the tensor takes over from the caller.
    """
    return made_tensor(context, memory_store, element, rank, count, data, owner, 0)


@entry
def add_tensor_reference(tensor: Address) -> None:
    """Add a reference; the caller must already hold one."""
    fetch_add(tensor + at.TENSOR_REFERENCES, 1)


@entry
def drop_tensor(context: Address, tensor: Address) -> None:
    """Drop a reference; dropping the last one frees the tensor."""
    references = tensor + at.TENSOR_REFERENCES
    # If this is the only reference, no other thread can change the count.
    if load_acquire(references) != 1 and fetch_add(references, -1) != 1:
        return
    memory_store, owner = load(tensor + at.TENSOR_STORE), load(tensor + at.TENSOR_OWNER)
    if owner != 0:
        call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RELEASE_OBJECT), context, owner)
    # A shape has neither an owner nor elements.
    elif load(tensor + at.TENSOR_DATA) != 0:
        give_memory(memory_store, load(tensor + at.TENSOR_DATA), load(tensor + at.TENSOR_BYTES))
    fetch_add(memory_store + at.STORE_TENSORS, -1)
    give_block(context, tensor, at.TENSOR_SIZES + 8 * load(tensor + at.TENSOR_RANK))
