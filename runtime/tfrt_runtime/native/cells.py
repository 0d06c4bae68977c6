"""Memory of native code: the budget, and blocks for values, tasks, waiters, and activations.

Each thread has free lists; slabs are shared:

    thread:   free list, one spare batch, a slab that blocks are cut from         per size class
    process:  depot: batches that threads had too many of                         per size class
              left slabs: no thread cuts blocks from them now                     per size class
              stock: slabs for when the system has no memory

A block that a thread frees may belong to any thread's slab.  If a thread's free list is full, the
list becomes the thread's spare batch, and the former spare batch is moved to the depot, where other
threads find it.  None of these moves accesses a block, so a program that keeps millions of values
alive allocates and frees them at the cost of a list.  A thread that exits leaves its slab to the
next thread that needs blocks of that size.  Otherwise, each short-lived thread would keep a slab
for a few blocks that move on to other threads.  `trim` finds the slabs whose blocks are all in the
depot, and frees these slabs.

Slabs come from Bonwick 1994, USENIX Summer, "The Slab Allocator: An Object-Caching Kernel Memory
Allocator".  Two batches per thread (magazines) over a depot come from Bonwick and Adams 2001,
USENIX, "Magazines and Vmem: Extending the Slab Allocator to Many CPUs and Arbitrary Resources".

The budget limits how much memory native code may take from the system.  Bytes are counted when
slabs, buffers, and other large blocks are taken from the system, not when a program takes a value
from a free list.  The process has one count, but each queue may have its own limit for what its
programs add to it.

Small blocks are never refused.  A thread that is over the budget, or that gets no memory from the
system, calls `refuse`, which ends its run.  The thread still gets its block, from the stock if
necessary, so that everything that the run has started can finish in an orderly way.

Rejected alternative: the C library's allocator for each block, because a small block must never be
refused, and because the budget would have to be counted at every allocation.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    allocate_aligned,
    call2,
    call3,
    clear,
    compare_and_swap,
    discard,
    entry,
    fetch_add,
    futex_wait,
    inline,
    load,
    load_acquire,
    native,
    outline,
    pause,
    push,
    push_list,
    release,
    store,
    store_release,
    take_one,
)

LARGE = 1 << 18
"""For blocks of this size and larger, the pages of unused blocks may be returned to the system."""
PAGE = 1 << 16
"""A multiple of the system's page size."""


@entry
def memory_limit(context: Address) -> int:
    """Return the process-wide memory limit that applies to allocations by programs of this thread's
    queue.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    limit = 0
    if queue != 0:
        limit = load(queue + at.QUEUE_MEMORY_LIMIT)
    return (
        limit if limit != 0 else load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MEMORY_LIMIT)
    )


@native
def reserve(context: Address, size: int) -> bool:
    """Count `size` bytes that are about to be taken from the system.

    If the total would exceed the budget, count nothing and return False.
    """
    return reserve_within(load(context + at.CONTEXT_PROCESS), memory_limit(context), size) != 0


@entry
def reserve_within(process: Address, limit: int, size: int) -> int:
    """Do the same as `reserve`, with a known limit; return 1 or 0."""
    if size < 0 or size > limit:
        return 0
    while True:
        held = load_acquire(process + at.PROCESS_HELD)
        # Check before counting, because a thread's failing attempt must not cause another thread's
        # refusal.
        if held > limit - size:
            return 0
        if compare_and_swap(process + at.PROCESS_HELD, held, held + size) != 0:
            return 1


@native
def overdraw(context: Address, size: int) -> None:
    """Count `size` bytes regardless of the budget, because ending a run itself needs a little
    memory.
    """
    fetch_add(load(context + at.CONTEXT_PROCESS) + at.PROCESS_HELD, size)


@entry
def give_back(process: Address, size: int) -> None:
    """Subtract `size` bytes, which have been returned to the system, from the process's count."""
    fetch_add(process + at.PROCESS_HELD, -size)


@outline
def refuse(context: Address, size: int) -> None:
    """End the run that requests `size` bytes.

    The request exceeds the budget, or the system does not have enough memory.  Python cancels the
    run with an error that names the current kernel.  A thread that is not running a kernel may be
    running compiled code, which reports the refusal at its next operation that has a location.
    """
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_REFUSED)
    if call3(callback, context, load(context + at.CONTEXT_RECORD), size) == 0:
        store(context + at.CONTEXT_REFUSED, size)


CARVED_AT_ONCE = 16
"""How many blocks a thread cuts from its slab when its free list is empty."""
STOCK = 32
"""The number of slabs in a full stock: two megabytes."""
WAIT_NS = 1_000_000


@native
def take_block(context: Address, size: int) -> Address:
    """Return a block of at least `size` bytes with undefined contents.

    The result is 0 only if a large block is refused.
    """
    # Free lists belong to the thread, so all words here are plain, and no other thread is
    # disturbed.
    size_class = (size + at.CELL_SIZE - 1) // at.CELL_SIZE
    if size_class >= at.FREE_CLASSES:
        return take_large(context, size)
    head = context + at.CONTEXT_FREE + 8 * size_class
    block = load(head)
    if block == 0:
        return refill(context, size_class)
    store(head, load(block + at.VALUE_NEXT))
    count = context + at.CONTEXT_FREE_COUNT + 8 * size_class
    store(count, load(count) - 1)
    return block


@native
def give_block(context: Address, block: Address, size: int) -> None:
    """Free a block that `take_block` returned, given the size that was requested."""
    size_class = (size + at.CELL_SIZE - 1) // at.CELL_SIZE
    if size_class >= at.FREE_CLASSES:
        release(block)
        give_back(load(context + at.CONTEXT_PROCESS), size)
        return
    count = context + at.CONTEXT_FREE_COUNT + 8 * size_class
    # A thread that only frees blocks of values that other threads make must not hoard them.
    if load(count) * size_class >= at.BATCH_CELLS:
        keep_batch(context, size_class)
    head = context + at.CONTEXT_FREE + 8 * size_class
    store(block + at.VALUE_NEXT, load(head))
    store(head, block)
    store(count, load(count) + 1)


@inline
def take_cell(context: Address) -> Address:
    """Return a block of one cell: `take_block` for the most common size."""
    cell = load(context + at.CONTEXT_FREE + 8)
    if cell == 0:
        return refill(context, 1)
    store(context + at.CONTEXT_FREE + 8, load(cell + at.VALUE_NEXT))
    store(context + at.CONTEXT_FREE_COUNT + 8, load(context + at.CONTEXT_FREE_COUNT + 8) - 1)
    return cell


@inline
def give_cell(context: Address, cell: Address) -> None:
    """Free a cell of `take_cell` or `take_block`."""
    if load(context + at.CONTEXT_FREE_COUNT + 8) >= at.BATCH_CELLS:
        keep_batch(context, 1)
    store(cell + at.VALUE_NEXT, load(context + at.CONTEXT_FREE + 8))
    store(context + at.CONTEXT_FREE + 8, cell)
    store(context + at.CONTEXT_FREE_COUNT + 8, load(context + at.CONTEXT_FREE_COUNT + 8) + 1)


@outline
def take_large(context: Address, size: int) -> Address:
    """Allocate a block of a size that has no free list.

    If it is refused, end the run and return 0.
    """
    # Count before allocating: if two threads request the last bytes, one of them is refused.
    if size < 0 or not reserve(context, size):
        reclaim(load(context + at.CONTEXT_PROCESS))
        if size < 0 or not reserve(context, size):
            refuse(context, size)
            return 0
    block = allocate(size)
    if block == 0 and reclaim(load(context + at.CONTEXT_PROCESS)) != 0:
        block = allocate(size)
    if block == 0:
        give_back(load(context + at.CONTEXT_PROCESS), size)
        refuse(context, size)
    return block


@native
def need_block(context: Address, size: int) -> Address:
    """Take a block as `take_block` does, but wait until memory is available.

    Use this for work that must continue.
    """
    while True:
        block = take_block(context, size)
        if block != 0:
            return block
        overdraw(context, size)
        block = allocate(size)
        if block != 0:
            return block
        give_back(load(context + at.CONTEXT_PROCESS), size)
        futex_wait(load(context + at.CONTEXT_PROCESS) + at.PROCESS_STOCKED, 0, WAIT_NS)


@outline
def keep_batch(context: Address, size_class: int) -> None:
    """Make the full free list the spare batch; move the former spare batch to the depot."""
    spare = context + at.CONTEXT_SPARE + 8 * size_class
    former = load(spare)
    if former != 0:
        give_batches(load(context + at.CONTEXT_PROCESS), size_class, former, former)
    store(spare, take_list(context, size_class))


@native
def take_list(context: Address, size_class: int) -> Address:
    """Take the free list of a size class as a batch and leave it empty.

    Returns 0 if it was empty.
    """
    head = context + at.CONTEXT_FREE + 8 * size_class
    count = context + at.CONTEXT_FREE_COUNT + 8 * size_class
    batch = load(head)
    if batch != 0:
        store(batch + at.BATCH_COUNT, load(count))
        store(batch + at.BATCH_NEXT, 0)
        store(head, 0)
        store(count, 0)
    return batch


@native
def give_batches(process: Address, size_class: int, first: Address, last: Address) -> None:
    """Put linked batches into the depot."""
    push_list(process + at.PROCESS_DEPOT + 8 * size_class, first, last, at.BATCH_NEXT)


@native
def take_batch(process: Address, size_class: int) -> Address:
    """Take a batch from the depot.

    Returns 0 if the depot is empty or another thread briefly holds all its batches.
    """
    return take_one(process + at.PROCESS_DEPOT + 8 * size_class, at.BATCH_NEXT)


@outline
def refill(context: Address, size_class: int) -> Address:
    """Return a block to a thread whose free list is empty, and put more blocks into that list."""
    spare = context + at.CONTEXT_SPARE + 8 * size_class
    batch = load(spare)
    store(spare, 0)
    if batch == 0:
        batch = take_batch(load(context + at.CONTEXT_PROCESS), size_class)
    if batch == 0:
        return carve(context, size_class)
    store(context + at.CONTEXT_FREE + 8 * size_class, load(batch + at.VALUE_NEXT))
    store(context + at.CONTEXT_FREE_COUNT + 8 * size_class, load(batch + at.BATCH_COUNT) - 1)
    return batch


@native
def carve(context: Address, size_class: int) -> Address:
    """Cut a few blocks from this thread's slab or from a new one.

    Return one of them and keep the others.
    """
    size = at.CELL_SIZE * size_class
    place = context + at.CONTEXT_CARVE + 8 * size_class
    end = context + at.CONTEXT_CARVE_END + 8 * size_class
    refused = 0
    if load(place) == load(end):
        leave_slab(context, size_class)
        slab = take_one(
            load(context + at.CONTEXT_PROCESS) + at.PROCESS_LEFT + 8 * size_class, at.SLAB_LINK
        )
        if slab != 0:
            store(place, load(slab + at.SLAB_PLACE))
        else:
            slab = take_slab(context)
            if slab & 1 != 0:
                slab -= 1
                refused = at.SLAB_SIZE
            store(slab + at.SLAB_CARVED, 0)
            store(slab + at.SLAB_FREE, 0)
            store(slab + at.SLAB_OPEN, 1)
            store(place, slab + at.SLAB_BLOCKS)
        store(end, slab + at.SLAB_BLOCKS + (at.SLAB_ROOM - at.SLAB_BLOCKS) // size * size)
    block = load(place)
    count = min((load(end) - block) // size, CARVED_AT_ONCE)
    store(place, block + size * count)
    # A slab is aligned to its size, so the address of a block identifies its slab.
    slab = block & -at.SLAB_SIZE
    store(slab + at.SLAB_CARVED, load(slab + at.SLAB_CARVED) + count)
    # The blocks are linked from the last to the first, so the list then hands out blocks with
    # rising addresses.
    following = 0
    for i in range(count - 1, 0, -1):
        store(block + size * i + at.VALUE_NEXT, following)
        following = block + size * i
    store(context + at.CONTEXT_FREE + 8 * size_class, following)
    store(context + at.CONTEXT_FREE_COUNT + 8 * size_class, count - 1)
    if refused != 0:
        # Do this last, because Python then makes an error value on this same context.
        refuse(context, refused)
    return block


@native
def leave_slab(context: Address, size_class: int) -> None:
    """Stop cutting blocks from this thread's slab of a size class, if it has one.

    Another thread may cut the rest of the slab.
    """
    process = load(context + at.CONTEXT_PROCESS)
    place = load(context + at.CONTEXT_CARVE + 8 * size_class)
    end = load(context + at.CONTEXT_CARVE_END + 8 * size_class)
    if end == 0:
        return
    slab = (end - 1) & -at.SLAB_SIZE
    store(context + at.CONTEXT_CARVE + 8 * size_class, 0)
    store(context + at.CONTEXT_CARVE_END + 8 * size_class, 0)
    if place == end:
        # Release: a thread that reads this while trimming also sees the final SLAB_CARVED.
        store_release(slab + at.SLAB_OPEN, 0)
    else:
        store(slab + at.SLAB_PLACE, place)
        push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)


@native
def take_slab(context: Address) -> Address:
    """Return a slab, or its address plus 1 if the run that requests it must end."""
    process = load(context + at.CONTEXT_PROCESS)
    refused = 0
    if not reserve(context, at.SLAB_SIZE):
        reclaim(process)
        if not reserve(context, at.SLAB_SIZE):
            refused = 1
            overdraw(context, at.SLAB_SIZE)
    while True:
        slab = allocate_aligned(at.SLAB_SIZE, at.SLAB_ROOM)
        if slab != 0:
            return slab + refused
        refused = 1
        slab = take_stocked(process)
        if slab != 0:
            # The slab was counted when it was put into the stock.
            give_back(process, at.SLAB_SIZE)
            return slab + refused
        # Other runs, or other parts of the process, may free memory in the meantime.
        if reclaim(process) == 0:
            pause()  # another thread may briefly hold the whole stock
            futex_wait(process + at.PROCESS_STOCKED, 0, WAIT_NS)


@native
def reclaim(process: Address) -> int:
    """Free the memory that the process keeps for later: free slabs, and blocks of tensors."""
    return call2(load(process + at.PROCESS_RECLAIM), process, 0)


@native
def give_stocked(process: Address, slab: Address) -> None:
    """Put a slab that has already been counted into the stock."""
    push(process + at.PROCESS_STOCK, slab, at.SLAB_NEXT)
    fetch_add(process + at.PROCESS_STOCKED, 1)


@native
def take_stocked(process: Address) -> Address:
    """Take a slab from the stock.

    Returns 0 if the stock is empty or another thread briefly holds all its slabs.
    """
    slab = take_one(process + at.PROCESS_STOCK, at.SLAB_NEXT)
    if slab != 0:
        fetch_add(process + at.PROCESS_STOCKED, -1)
    return slab


@entry
def fill_stock(process: Address) -> None:
    """Fill the stock, as far as the system has memory, regardless of the budget."""
    # The stock is for runs that are refused memory, because they still need some memory to finish
    # in an orderly way.
    while load_acquire(process + at.PROCESS_STOCKED) < STOCK:
        slab = allocate_aligned(at.SLAB_SIZE, at.SLAB_ROOM)
        if slab == 0:
            return
        fetch_add(process + at.PROCESS_HELD, at.SLAB_SIZE)
        give_stocked(process, slab)


@native
def fill_unwritten(context: Address, start: Address, size: int, is_fresh: bool) -> None:
    """Erase the process's old data in `size` bytes of a block, rounded up to words.

    The new content is zeros or the word that QUEUE_CHOOSE describes.

    For a large fresh block, the system supplies or clears the pages when they are first used.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    word = load(queue + at.QUEUE_CHOOSE) & -2 if queue != 0 else 0
    end = start + ((size + 7) & -8)
    if word != 0:
        for address in range(start, end, 8):
            store(address, word)
        return
    if is_fresh and size >= LARGE:
        first, last = (start + PAGE - 1) & -PAGE, end & -PAGE
        clear(start, first - start)
        discard(first, last - first)
        start = last
    clear(start, end - start)
