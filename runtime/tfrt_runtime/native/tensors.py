"""Tensors of native kernels: what is known of one, and the memory of its elements.

A tensor is a small block that says type, sizes and where the elements are.  It is counted: an
AsyncValue whose payload it is has a reference, and so has each Python object that stands for it.  The
elements belong to the store, or to a Python object.

A store keeps free blocks for the next tensor of about their size: a program that runs again
and again asks for the same ones each time, and fresh pages cost more than most kernels.  Of each class of
sizes it has a row of slots.  A block is put into an empty slot with one `compare_and_swap` and taken with
one `exchange`, so that threads need no lock and no order, and an address that comes back is no trouble.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import give_back, give_block, need_block, reclaim, reserve, trim
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

MAX_ELEMENTS_BITS = 48
"""No machine has memory for more; the number of bytes still fits in a word."""


@native
def size_bits(size: int) -> int:
    """The bits of a block's size, at least those of the smallest block's."""
    bits = at.SMALLEST_BLOCK_BITS
    while size >> bits != 0:
        bits += 1
    return bits


@native
def unit_bits(bits: int) -> int:
    """Blocks of so many bits have a size of four to eight units of this power of two."""
    return max(bits - 3, at.SMALLEST_BLOCK_BITS)


@native
def unit_count(size: int, unit: int) -> int:
    """How many units hold `size` bytes; at least one."""
    return max((size + (1 << unit) - 1) >> unit, 1)


@native
def block_size(size: int) -> int:
    """The size of the block that serves a request of `size` bytes."""
    unit = unit_bits(size_bits(size))
    return unit_count(size, unit) << unit


@native
def first_slot(memory_store: Address, size: int) -> Address:
    """The row of slots for blocks that serve `size` bytes."""
    bits = size_bits(size)
    row = (bits - at.SMALLEST_BLOCK_BITS) * 9 + unit_count(size, unit_bits(bits))
    return memory_store + at.STORE_SLOTS + 8 * at.SLOTS_PER_CLASS * row


@native
def slots_used(size: int) -> int:
    """How many slots of a row are used: few for large blocks."""
    return min(at.SLOTS_PER_CLASS, (1 << at.LARGEST_KEPT_BITS) // block_size(size))


@native
def take_memory(context: Address, memory_store: Address, size: int) -> Address:
    """A block of at least `size` bytes of unknown content; 0 if there is no memory."""
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # The look first: an exchange of an empty slot would take its cache line from other threads.
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
    """A block from the C library; 0 over the budget, or if there is no memory."""
    if not reserve(context, size):
        return 0
    block = allocate(size)
    if block == 0:
        give_back(load(context + at.CONTEXT_PROCESS), size)
    return block


@native
def give_memory(memory_store: Address, block: Address, size: int) -> None:
    """Take back a block of `take_memory`, with the size that was asked for."""
    if size >> at.LARGEST_KEPT_BITS == 0:
        slot = first_slot(memory_store, size)
        for i in range(slots_used(size)):
            # A slot holds an address or 0, and no links: an address that leaves and comes back is the
            # same free block, so that the swap has no ABA.
            is_free = load_acquire(slot + 8 * i) == 0
            if is_free and compare_and_swap(slot + 8 * i, 0, block) != 0:
                return
    release(block)
    give_back(load(memory_store + at.STORE_PROCESS), block_size(size))


@entry
def reclaim_all(process: Address, _unused: int) -> int:
    """What `cells.reclaim` does."""
    found = trim(process, 0)
    if load(process + at.PROCESS_STORE) != 0:
        found += trim_store(load(process + at.PROCESS_STORE))
    return found


@entry
def trim_store(memory_store: Address) -> int:
    """Give every free block back to the C library; whether there was one."""
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
    """As `trim_store`, for one class of blocks."""
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
def prepare_tensor(tensor: Address, memory_store: Address, element: int, rank: int) -> None:
    """Fill in what a tensor is born with, one reference among it."""
    store(tensor + at.TENSOR_REFERENCES, 1)
    store(tensor + at.TENSOR_ELEMENT, element)
    store(tensor + at.TENSOR_RANK, rank)
    store(tensor + at.TENSOR_COUNT, 0)
    store(tensor + at.TENSOR_DATA, 0)
    store(tensor + at.TENSOR_OWNER, 0)
    store(tensor + at.TENSOR_STORE, memory_store)
    store(tensor + at.TENSOR_BYTES, 0)
    fetch_add(memory_store + at.STORE_TENSORS, 1)


@native
def new_shape(context: Address, memory_store: Address, rank: int, count: int) -> Address:
    """A shape with one reference; the caller fills in its sizes, whose product is `count`."""
    tensor = need_block(context, at.TENSOR_SIZES + 8 * rank)
    prepare_tensor(tensor, memory_store, 0, rank)
    store(tensor + at.TENSOR_COUNT, count)
    return tensor


@native
def new_tensor(
    context: Address, memory_store: Address, element: int, element_size: int, like: Address
) -> Address:
    """A tensor of the shape of `like` with unknown elements and one reference; 0 without memory.

    Also 0 for no elements: what sizes there may be beside 0 is for numpy to say.
    """
    # The elements first: without memory for them nothing has to be taken back.
    count, rank = load(like + at.TENSOR_COUNT), load(like + at.TENSOR_RANK)
    if count == 0 or count >> MAX_ELEMENTS_BITS != 0:
        return 0
    data = take_memory(context, memory_store, count * element_size)
    if data == 0:
        return 0
    tensor = new_shape(context, memory_store, rank, count)
    store(tensor + at.TENSOR_ELEMENT, element)
    store(tensor + at.TENSOR_DATA, data)
    store(tensor + at.TENSOR_BYTES, count * element_size)
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
    """A tensor over memory of a Python object, whose handle it takes; the caller fills in the sizes."""
    tensor = need_block(context, at.TENSOR_SIZES + 8 * rank)
    prepare_tensor(tensor, memory_store, element, rank)
    store(tensor + at.TENSOR_COUNT, count)
    store(tensor + at.TENSOR_DATA, data)
    store(tensor + at.TENSOR_OWNER, owner)
    return tensor


@entry
def add_tensor_reference(tensor: Address) -> None:
    """One reference more, for the holder of one."""
    fetch_add(tensor + at.TENSOR_REFERENCES, 1)


@entry
def drop_tensor(context: Address, tensor: Address) -> None:
    """One reference less; the last one gives the memory back."""
    references = tensor + at.TENSOR_REFERENCES
    # A sole owner needs no read-modify-write: no other thread can hold or make a reference.
    if load_acquire(references) != 1 and fetch_add(references, -1) != 1:
        return
    memory_store, owner = load(tensor + at.TENSOR_STORE), load(tensor + at.TENSOR_OWNER)
    if owner != 0:
        call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RELEASE_OBJECT), context, owner)
    elif load(tensor + at.TENSOR_DATA) != 0:
        give_memory(memory_store, load(tensor + at.TENSOR_DATA), load(tensor + at.TENSOR_BYTES))
    fetch_add(memory_store + at.STORE_TENSORS, -1)
    give_block(context, tensor, at.TENSOR_SIZES + 8 * load(tensor + at.TENSOR_RANK))


@native
def have_same_shape(left: Address, right: Address) -> bool:
    """Whether two tensors, or shapes, have the same sizes."""
    rank = load(left + at.TENSOR_RANK)
    if load(right + at.TENSOR_RANK) != rank:
        return False
    for i in range(rank):
        if load(left + at.TENSOR_SIZES + 8 * i) != load(right + at.TENSOR_SIZES + 8 * i):
            return False
    return True
