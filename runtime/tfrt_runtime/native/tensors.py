"""Tensors of native kernels: their descriptions and the memory of their elements.

A tensor is a small block that holds the type, the sizes, and the address of the elements.  It has a
reference count: each AsyncValue whose payload is the tensor holds a reference, and so does each
Python object that represents it.  The elements belong to the store, or to a Python object.

A store keeps free blocks for later tensors of about the same size: a program that runs repeatedly
requests the same sizes each time, and fresh pages cost more than most kernels.  The store has a row
of slots for each size class.  One `compare_and_swap` puts a block into an empty slot and one
`exchange` takes it out, so threads need no lock and no ordering, and reusing an address is
harmless.
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
"""No machine has memory for more elements, and their byte count still fits in a word."""


@native
def size_bits(size: int) -> int:
    """Return the number of bits of a block's size, or of the smallest block's size if that is
    larger.
    """
    bits = at.SMALLEST_BLOCK_BITS
    while size >> bits != 0:
        bits += 1
    return bits


@native
def unit_bits(bits: int) -> int:
    """Return the exponent of the unit for blocks whose sizes have `bits` bits.

    Such a block has a size of four to eight units.
    """
    return max(bits - 3, at.SMALLEST_BLOCK_BITS)


@native
def unit_count(size: int, unit: int) -> int:
    """Return how many units hold `size` bytes; at least one."""
    return max((size + (1 << unit) - 1) >> unit, 1)


@native
def block_size(size: int) -> int:
    """Return the size of the block that serves a request of `size` bytes."""
    unit = unit_bits(size_bits(size))
    return unit_count(size, unit) << unit


@native
def first_slot(memory_store: Address, size: int) -> Address:
    """Return the row of slots for blocks that serve `size` bytes."""
    bits = size_bits(size)
    # Unit counts are 1 to 8, so nine rows per power of two suffice.
    row = (bits - at.SMALLEST_BLOCK_BITS) * 9 + unit_count(size, unit_bits(bits))
    return memory_store + at.STORE_SLOTS + 8 * at.SLOTS_PER_CLASS * row


@native
def slots_used(size: int) -> int:
    """Return how many slots of a row are used; large blocks use only a few slots."""
    return min(at.SLOTS_PER_CLASS, (1 << at.LARGEST_KEPT_BITS) // block_size(size))


@native
def take_memory(context: Address, memory_store: Address, size: int) -> Address:
    """Take a block of at least `size` bytes with undefined contents.

    Returns 0 if not enough memory is available.
    """
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # Load first, because exchanging an empty slot would take its cache line away from other
            # threads.
            if load_acquire(slot + 8 * i) != 0:
                block = exchange(slot + 8 * i, 0)
                if block != 0:
                    return block
    block = fresh_memory(context, block_size(size))
    if block == 0 and reclaim(load(context + at.CONTEXT_PROCESS)) != 0:
        block = fresh_memory(context, block_size(size))
    return block


@outline
def fresh_memory(context: Address, size: int) -> Address:
    """Allocate a block from the C library.

    Return 0 if the block exceeds the budget or the library has no memory.
    """
    if not reserve(context, size):
        return 0
    block = allocate(size)
    if block == 0:
        give_back(load(context + at.CONTEXT_PROCESS), size)
    return block


@native
def give_memory(memory_store: Address, block: Address, size: int) -> None:
    """Free a block that `take_memory` returned, given the size that was requested."""
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # A slot holds an address or 0, and no links: an address that leaves and returns is the
            # same free block, so the swap is immune to ABA.
            is_free = load_acquire(slot + 8 * i) == 0
            if is_free and compare_and_swap(slot + 8 * i, 0, block) != 0:
                return
    release(block)
    give_back(load(memory_store + at.STORE_PROCESS), block_size(size))


@entry
def reclaim_all(process: Address, _unused: int) -> int:
    """Free the memory that the process keeps for later; this implements `cells.reclaim`."""
    found = trim(process, 0)
    if load(process + at.PROCESS_STORE) != 0:
        found += trim_store(load(process + at.PROCESS_STORE))
    return found


@entry
def trim_store(memory_store: Address) -> int:
    """Return all free blocks to the C library; tell whether any existed."""
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
    """Trim one size class, as `trim_store` does."""
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
    """Make a tensor or a shape with one reference; the caller fills in its sizes."""
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
    """Make a shape with one reference; the caller fills in its sizes, whose product is `count`."""
    return made_tensor(context, memory_store, 0, rank, count, 0, 0, 0)


@native
def new_tensor(
    context: Address, memory_store: Address, element: int, element_size: int, like: Address
) -> Address:
    """Make a tensor with the shape of `like` and one reference.

    Return 0 if not enough memory is available.

    Its elements are undefined.  Also returns 0 if the tensor would have no elements, because numpy
    decides which other sizes are valid together with a size of 0.
    """
    # The elements are allocated first, so that nothing has to be undone if there is not enough
    # memory for them.
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
    """Make a tensor over a Python object's memory; the caller fills in the sizes.

    The tensor takes ownership of the object's handle.
    """
    return made_tensor(context, memory_store, element, rank, count, data, owner, 0)


@entry
def add_tensor_reference(tensor: Address) -> None:
    """Add one reference.  The caller must already hold one."""
    fetch_add(tensor + at.TENSOR_REFERENCES, 1)


@entry
def drop_tensor(context: Address, tensor: Address) -> None:
    """Drop one reference; dropping the last one frees the memory."""
    references = tensor + at.TENSOR_REFERENCES
    # A sole owner needs no read-modify-write, because no other thread can hold or add a reference.
    if load_acquire(references) != 1 and fetch_add(references, -1) != 1:
        return
    memory_store, owner = load(tensor + at.TENSOR_STORE), load(tensor + at.TENSOR_OWNER)
    if owner != 0:
        call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RELEASE_OBJECT), context, owner)
    elif load(tensor + at.TENSOR_DATA) != 0:
        give_memory(memory_store, load(tensor + at.TENSOR_DATA), load(tensor + at.TENSOR_BYTES))
    fetch_add(memory_store + at.STORE_TENSORS, -1)
    give_block(context, tensor, at.TENSOR_SIZES + 8 * load(tensor + at.TENSOR_RANK))
