"""Memory for native code: the budget, and blocks for values, tasks, waiters, and activations.

A *cell* is a block of 64 bytes, the smallest size.  A *size class* is a block size in cells.  A
*slab* is a piece of memory from the system that is cut into blocks of one size class.  A *batch* is
a full free list that threads pass on as a whole.  Free lists belong to threads; slabs are shared:

    thread:   free list, one spare batch, a slab that blocks are cut from         per size class
    process:  depot: batches that the threads do not need                         per size class
              left slabs: partly cut, and no longer used by any thread            per size class
              stock: slabs for when the system is out of memory

A thread puts each block that it frees into its own free list, even if the block came from another
thread's slab.  If the list is full, it becomes the thread's spare batch, and the former spare batch
goes to the depot, where other threads find it.  Moving a batch does not touch its blocks, so even a
program that keeps millions of values alive pays only one list operation per allocation.

A thread that exits leaves its slab to the next thread that needs blocks of that size.  Otherwise,
each short-lived thread would occupy a slab for only a few blocks.  `trim` finds the slabs whose
blocks are all in the depot, and frees them.

Slabs come from Bonwick 1994, USENIX Summer, "The Slab Allocator: An Object-Caching Kernel Memory
Allocator".  The two batches per thread (magazines) and the depot come from Bonwick and Adams 2001,
USENIX, "Magazines and Vmem: Extending the Slab Allocator to Many CPUs and Arbitrary Resources".

The budget limits how much memory native code may take from the system.  The process counts the
bytes of slabs, buffers, and other large blocks when it takes them from the system.  Taking a block
from a free list does not change the count.  A queue may set its own limit on the count, which then
applies to the programs that run on that queue.

Small blocks are never refused.  A thread that exceeds the budget, or that gets no memory from the
system, calls `refuse`, which ends the run that the thread is working on.  The thread still gets its
block, from the stock if necessary, so that everything the run has started can finish properly.

Rejected alternative: the C library's allocator for each block.  The C library can refuse small
blocks, and each allocation would have to update the budget.
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
"""Unused pages are returned to the system only from blocks of at least this many bytes."""
PAGE = 1 << 16
"""A multiple of the system's page size."""


@entry
def memory_limit(context: Address) -> int:
    """Return the memory limit for the programs of this thread's queue, in bytes.

    The limit applies to the whole process's memory, PROCESS_HELD.
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
    """Add `size` bytes to the process's count before taking them from the system.

    Return False, and add nothing, if the count would exceed the limit.
    """
    return reserve_within(load(context + at.CONTEXT_PROCESS), memory_limit(context), size) != 0


@entry
def reserve_within(process: Address, limit: int, size: int) -> int:
    """Reserve bytes as `reserve` does, but with the given limit; return 1 or 0."""
    if size < 0 or size > limit:
        return 0
    while True:
        held = load_acquire(process + at.PROCESS_HELD)
        # Check before adding: a thread whose attempt fails must not make another thread's attempt
        # fail.
        # Unlike `held + size`, this difference cannot overflow.
        if held > limit - size:
            return 0
        if compare_and_swap(process + at.PROCESS_HELD, held, held + size) != 0:
            return 1


@native
def overdraw(context: Address, size: int) -> None:
    """Add `size` bytes to the process's count even if this exceeds the limit.

    Even a run that is ended because of the limit needs a little memory to finish.
    """
    fetch_add(load(context + at.CONTEXT_PROCESS) + at.PROCESS_HELD, size)


@entry
def give_back(process: Address, size: int) -> None:
    """Subtract `size` bytes from the process's count after returning them to the system."""
    fetch_add(process + at.PROCESS_HELD, -size)


@outline
def refuse(context: Address, size: int) -> None:
    """End the run whose request for `size` bytes cannot be met.

    Call this if the request would exceed the budget or the system is out of memory.  Python cancels
    the run with an error that names the kernel that this thread is running.  If the thread is
    running compiled code instead, the code's next operation that has a location reports the error.
    """
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_REFUSED)
    if call3(callback, context, load(context + at.CONTEXT_RECORD), size) == 0:
        store(context + at.CONTEXT_REFUSED, size)


CARVED_AT_ONCE = 16
"""How many blocks a thread cuts from its slab when its free list is empty."""
STOCK = 32
"""The number of slabs in a full stock: two megabytes."""
WAIT_NS = 1_000_000


@inline
def take_block(context: Address, size: int) -> Address:
    """Return a block of at least `size` bytes with undefined contents.

    Return 0 only if a large block is refused.
    """
    # Plain accesses suffice: only this thread uses its free lists.
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


@inline
def give_block(context: Address, block: Address, size: int) -> None:
    """Free a block that `take_block` returned.

    `size` is the size that was requested from `take_block`.
    """
    size_class = (size + at.CELL_SIZE - 1) // at.CELL_SIZE
    if size_class >= at.FREE_CLASSES:
        release(block)
        give_back(load(context + at.CONTEXT_PROCESS), size)
        return
    count = context + at.CONTEXT_FREE_COUNT + 8 * size_class
    # A thread that frees other threads' values must not accumulate blocks without limit.
    if load(count) * size_class >= at.BATCH_CELLS:
        keep_batch(context, size_class)
    head = context + at.CONTEXT_FREE + 8 * size_class
    store(block + at.VALUE_NEXT, load(head))
    store(head, block)
    store(count, load(count) + 1)


@inline
def take_cell(context: Address) -> Address:
    """Return a block of one cell."""
    return take_block(context, at.CELL_SIZE)


@inline
def give_cell(context: Address, cell: Address) -> None:
    """Free a cell that came from `take_cell` or `take_block`."""
    give_block(context, cell, at.CELL_SIZE)


@outline
def take_large(context: Address, size: int) -> Address:
    """Allocate a block that is too large for the free lists.

    Return 0, and end the run, if the block is refused.
    """
    # Count before allocating: if two threads request the last bytes, only one may get them.
    if size < 0 or not reserve(context, size):
        # The count includes memory that is kept for reuse: free that memory before refusing.
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
    """Return a block as `take_block` does, but wait for memory instead of returning 0.

    Use this for work that must continue even if its run is out of memory.
    """
    while True:
        block = take_block(context, size)
        if block != 0:
            return block
        # `take_block` has ended the run, but this work must still be done, so exceed the budget.
        overdraw(context, size)
        block = allocate(size)
        if block != 0:
            return block
        give_back(load(context + at.CONTEXT_PROCESS), size)
        futex_wait(load(context + at.CONTEXT_PROCESS) + at.PROCESS_STOCKED, 0, WAIT_NS)


@outline
def keep_batch(context: Address, size_class: int) -> None:
    """Make the full free list the spare batch, and move the former spare batch to the depot."""
    spare = context + at.CONTEXT_SPARE + 8 * size_class
    # Without the spare batch, a thread that frees and takes blocks in turn could use the depot for
    # every block.
    former = load(spare)
    if former != 0:
        give_batches(load(context + at.CONTEXT_PROCESS), size_class, former, former)
    store(spare, take_list(context, size_class))


@native
def take_list(context: Address, size_class: int) -> Address:
    """Empty the free list of a size class, and return its blocks as a batch.

    Return 0 if the list was empty.
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
    """Put the linked batches from `first` to `last` into the depot."""
    push_list(process + at.PROCESS_DEPOT + 8 * size_class, first, last, at.BATCH_NEXT)


@native
def take_batch(process: Address, size_class: int) -> Address:
    """Take a batch from the depot.

    Return 0 if the depot is empty, or if another thread is holding all its batches.
    """
    return take_one(process + at.PROCESS_DEPOT + 8 * size_class, at.BATCH_NEXT)


@outline
def refill(context: Address, size_class: int) -> Address:
    """Return a block, and refill this thread's empty free list."""
    spare = context + at.CONTEXT_SPARE + 8 * size_class
    batch = load(spare)
    store(spare, 0)
    if batch == 0:
        batch = take_batch(load(context + at.CONTEXT_PROCESS), size_class)
    if batch == 0:
        return carve(context, size_class)
    # The batch's fields are in its first block. Read them now, because the caller gets that block.
    store(context + at.CONTEXT_FREE + 8 * size_class, load(batch + at.VALUE_NEXT))
    store(context + at.CONTEXT_FREE_COUNT + 8 * size_class, load(batch + at.BATCH_COUNT) - 1)
    return batch


@native
def carve(context: Address, size_class: int) -> Address:
    """Cut up to 16 blocks from this thread's slab, or from another slab if that one is used up.

    Return one of the blocks, and put the others into the free list.
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
        # Round down to whole blocks, so that `place` reaches `end` exactly.
        store(end, slab + at.SLAB_BLOCKS + (at.SLAB_ROOM - at.SLAB_BLOCKS) // size * size)
    block = load(place)
    count = min((load(end) - block) // size, CARVED_AT_ONCE)
    store(place, block + size * count)
    # A slab is aligned to its size, so a block's address identifies its slab.
    slab = block & -at.SLAB_SIZE
    store(slab + at.SLAB_CARVED, load(slab + at.SLAB_CARVED) + count)
    # Link from last to first, so that blocks are handed out in address order.
    following = 0
    for i in range(count - 1, 0, -1):
        store(block + size * i + at.VALUE_NEXT, following)
        following = block + size * i
    store(context + at.CONTEXT_FREE + 8 * size_class, following)
    store(context + at.CONTEXT_FREE_COUNT + 8 * size_class, count - 1)
    if refused != 0:
        # Do this last, because Python takes a cell for the error value from this context.
        refuse(context, refused)
    return block


@native
def leave_slab(context: Address, size_class: int) -> None:
    """Stop cutting blocks from this thread's slab of a size class; do nothing if it has none.

    Another thread may cut the rest of the slab into blocks.
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
        # Release: a thread that trims and reads 0 also sees the final SLAB_CARVED.
        store_release(slab + at.SLAB_OPEN, 0)
    else:
        # Store the place first: after the push, another thread may take the slab.
        store(slab + at.SLAB_PLACE, place)
        push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)


@native
def take_slab(context: Address) -> Address:
    """Return a new slab, waiting for memory if necessary.

    If the slab exceeds the budget or the system is out of memory, the run must end.  In that case,
    return the slab's address plus 1.
    """
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
    """Free the unused slabs and tensor blocks that the process keeps for reuse.

    Return 0 if nothing was freed.
    """
    return call2(load(process + at.PROCESS_RECLAIM), process, 0)


@native
def give_stocked(process: Address, slab: Address) -> None:
    """Put a slab into the stock.  The process's count must already include it."""
    push(process + at.PROCESS_STOCK, slab, at.SLAB_NEXT)
    fetch_add(process + at.PROCESS_STOCKED, 1)


@native
def take_stocked(process: Address) -> Address:
    """Take a slab from the stock.

    Return 0 if the stock is empty, or if another thread is holding all its slabs.
    """
    slab = take_one(process + at.PROCESS_STOCK, at.SLAB_NEXT)
    if slab != 0:
        fetch_add(process + at.PROCESS_STOCKED, -1)
    return slab


@entry
def fill_stock(process: Address) -> None:
    """Fill the stock, regardless of the budget; stop early if the system runs out of memory."""
    # The stock is for runs that were refused memory: they still need some memory to finish.
    while load_acquire(process + at.PROCESS_STOCKED) < STOCK:
        slab = allocate_aligned(at.SLAB_SIZE, at.SLAB_ROOM)
        if slab == 0:
            return
        fetch_add(process + at.PROCESS_HELD, at.SLAB_SIZE)
        give_stocked(process, slab)


@native
def fill_unwritten(context: Address, start: Address, size: int, is_fresh: bool) -> None:
    """Overwrite `size` bytes of a block, rounded up to words, so that no old data can be read.

    The new contents are zeros or, if QUEUE_CHOOSE is set, copies of that word.  `is_fresh` means
    that the block comes directly from the system.  If such a block is large, the system clears most
    of its pages when they are first used.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    word = load(queue + at.QUEUE_CHOOSE) & -2 if queue != 0 else 0
    end = start + ((size + 7) & -8)
    # While schedules are explored, the word is a poison, which shows whether an outcome depends on
    # memory that the program has not written.
    if word != 0:
        for address in range(start, end, 8):
            store(address, word)
        return
    if is_fresh and size >= LARGE:
        # Discarded pages contain zeros when they are next used, so only the ends must be cleared.
        first, last = (start + PAGE - 1) & -PAGE, end & -PAGE
        clear(start, first - start)
        discard(first, last - first)
        start = last
    clear(start, end - start)
