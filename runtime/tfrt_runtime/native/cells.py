"""Memory of native code: the budget, and blocks for values, tasks, waiters, activations.

Free lists of threads over common slabs:

    thread:   free list, one spare batch, a slab that blocks are cut from         per size class
    process:  depot, batches that threads had too many of                         per size class
              left slabs, which no thread cuts blocks from now                    per size class
              stock, slabs for when the system has no memory

A block that a thread gives back may come from any thread's slab.  A thread whose list is full keeps it
as its spare batch and gives the former one to the depot, where others find it: no block is touched, and
a program that keeps millions of values alive takes and gives them at the price of a list.  A thread that
ends leaves its slab to the next one that needs blocks of that size: else each short life would keep a slab for
a few blocks, which wander to other threads.  `trim` finds the slabs whose blocks are all in the depot and
gives them back.

The budget says how much of it native code may take from the system.  Bytes are counted where slabs, buffers and other
large blocks are taken from the system, not where a program takes a value from a free list.  The process has one
count; each queue may have a limit of its own for what its programs add to it.

Small blocks are never refused.  A thread that is over the budget, or that the system gives nothing,
calls `refuse`, which ends its run, and gets its block all the same, from the stock if need be:
so whatever the run has begun can end in good order.
"""

from __future__ import annotations

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
    now,
    outline,
    pause,
    release,
    store,
    store_release,
)
from tfrt_runtime.native.stacks import push, push_list, take_all, take_one

LARGE = 1 << 18
"""From this size on, the pages of blocks that are not used may be the system's."""
PAGE = 1 << 16
"""A multiple of the system's."""


@entry
def memory_limit(context: Address) -> int:
    """What the process may hold while the programs of this thread's queue ask for more."""
    queue = load(context + at.CONTEXT_QUEUE)
    limit = 0
    if queue != 0:
        limit = load(queue + at.QUEUE_MEMORY_LIMIT)
    return (
        limit if limit != 0 else load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MEMORY_LIMIT)
    )


@native
def reserve(context: Address, size: int) -> bool:
    """Count `size` bytes that are about to be taken; False, and nothing is counted, over the budget."""
    return reserve_within(load(context + at.CONTEXT_PROCESS), memory_limit(context), size) != 0


@entry
def reserve_within(process: Address, limit: int, size: int) -> int:
    """As `reserve`, with a known limit; 1 or 0."""
    if size < 0 or size > limit:
        return 0
    while True:
        held = load_acquire(process + at.PROCESS_HELD)
        # Tested before it is counted: what one thread only tries must not refuse another's request.
        if held > limit - size:
            return 0
        if compare_and_swap(process + at.PROCESS_HELD, held, held + size) != 0:
            return 1


@native
def overdraw(context: Address, size: int) -> None:
    """Count `size` bytes whatever the budget says: what ends a run needs a little memory itself."""
    fetch_add(load(context + at.CONTEXT_PROCESS) + at.PROCESS_HELD, size)


@entry
def give_back(process: Address, size: int) -> None:
    """Count `size` bytes less: they are the system's again."""
    fetch_add(process + at.PROCESS_HELD, -size)


@outline
def refuse(context: Address, size: int) -> None:
    """`size` bytes are over the budget, or the system has none: the run that asks for them ends.

    Python cancels it, with an error that names the present kernel.  A thread that runs no kernel may
    run compiled code: that says so at its next operation that has a place.
    """
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_REFUSED)
    if call3(callback, context, load(context + at.CONTEXT_RECORD), size) == 0:
        store(context + at.CONTEXT_REFUSED, size)


CARVED_AT_ONCE = 16
"""Blocks that a thread cuts from its slab when its free list is empty."""
STOCK = 32
"""Slabs in a full stock: two megabytes."""
WAIT_NS = 1_000_000


@native
def take_block(context: Address, size: int) -> Address:
    """A block of at least `size` bytes; contents undefined.  0 only for a large one that is refused."""
    # Free lists are the thread's own: all words here are plain, and no other thread is disturbed.
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
    """Take back a block of `take_block`, with the size that was asked for."""
    size_class = (size + at.CELL_SIZE - 1) // at.CELL_SIZE
    if size_class >= at.FREE_CLASSES:
        release(block)
        give_back(load(context + at.CONTEXT_PROCESS), size)
        return
    count = context + at.CONTEXT_FREE_COUNT + 8 * size_class
    # A thread that only gives blocks back, of values that others make, must not hoard them.
    if load(count) * size_class >= at.BATCH_CELLS:
        keep_batch(context, size_class)
    head = context + at.CONTEXT_FREE + 8 * size_class
    store(block + at.VALUE_NEXT, load(head))
    store(head, block)
    store(count, load(count) + 1)


@inline
def take_cell(context: Address) -> Address:
    """A block of one cell: what `take_block` does for the size that is most common."""
    cell = load(context + at.CONTEXT_FREE + 8)
    if cell == 0:
        return refill(context, 1)
    store(context + at.CONTEXT_FREE + 8, load(cell + at.VALUE_NEXT))
    store(context + at.CONTEXT_FREE_COUNT + 8, load(context + at.CONTEXT_FREE_COUNT + 8) - 1)
    return cell


@inline
def give_cell(context: Address, cell: Address) -> None:
    """Take back a cell of `take_cell` or `take_block`."""
    if load(context + at.CONTEXT_FREE_COUNT + 8) >= at.BATCH_CELLS:
        keep_batch(context, 1)
    store(cell + at.VALUE_NEXT, load(context + at.CONTEXT_FREE + 8))
    store(context + at.CONTEXT_FREE + 8, cell)
    store(context + at.CONTEXT_FREE_COUNT + 8, load(context + at.CONTEXT_FREE_COUNT + 8) + 1)


@outline
def take_large(context: Address, size: int) -> Address:
    """A block for which there is no free list; 0, and the run ends, if it is refused."""
    # Counted before it is allocated: of two threads that ask for the last bytes one is refused.
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
    """As `take_block`, for what has to go on: waits for memory where there is none."""
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
    """The free list is full: it becomes the spare batch, and that goes to the depot."""
    spare = context + at.CONTEXT_SPARE + 8 * size_class
    former = load(spare)
    if former != 0:
        give_batches(load(context + at.CONTEXT_PROCESS), size_class, former, former)
    store(spare, take_list(context, size_class))


@native
def take_list(context: Address, size_class: int) -> Address:
    """The free list of a size class as a batch, or 0; afterwards it is empty."""
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
    """A batch from the depot; 0 if it is empty, or another thread has them all for a moment."""
    return take_one(process + at.PROCESS_DEPOT + 8 * size_class, at.BATCH_NEXT)


@outline
def refill(context: Address, size_class: int) -> Address:
    """A block for a thread whose free list is empty, which has some more afterwards."""
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
    """Cut some blocks from this thread's slab, or from a new one: one to use, the others to keep."""
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
    # A slab is aligned to its size, so that the address of a block says which slab it is of.
    slab = block & -at.SLAB_SIZE
    store(slab + at.SLAB_CARVED, load(slab + at.SLAB_CARVED) + count)
    # Linked from the last to the first: the list gives blocks with rising addresses.
    following = 0
    for i in range(count - 1, 0, -1):
        store(block + size * i + at.VALUE_NEXT, following)
        following = block + size * i
    store(context + at.CONTEXT_FREE + 8 * size_class, following)
    store(context + at.CONTEXT_FREE_COUNT + 8 * size_class, count - 1)
    if refused != 0:
        # Last, as Python then makes an error value on this very context.
        refuse(context, refused)
    return block


@native
def leave_slab(context: Address, size_class: int) -> None:
    """This thread cuts no more blocks from its slab of a size class, if it has one; another may cut the rest."""
    process = load(context + at.CONTEXT_PROCESS)
    place = load(context + at.CONTEXT_CARVE + 8 * size_class)
    end = load(context + at.CONTEXT_CARVE_END + 8 * size_class)
    if end == 0:
        return
    slab = (end - 1) & -at.SLAB_SIZE
    store(context + at.CONTEXT_CARVE + 8 * size_class, 0)
    store(context + at.CONTEXT_CARVE_END + 8 * size_class, 0)
    if place == end:
        # Release: a thread that trims and reads this knows the last SLAB_CARVED.
        store_release(slab + at.SLAB_OPEN, 0)
    else:
        store(slab + at.SLAB_PLACE, place)
        push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)


@native
def take_slab(context: Address) -> Address:
    """A slab; its address plus 1 if the run that asks for it must end."""
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
            # It was counted when it came into the stock.
            give_back(process, at.SLAB_SIZE)
            return slab + refused
        # What other runs give back, or other parts of the process.
        if reclaim(process) == 0:
            pause()  # another thread may have the stock in its hands
            futex_wait(process + at.PROCESS_STOCKED, 0, WAIT_NS)


@native
def reclaim(process: Address) -> int:
    """Give back what the process keeps for later: free slabs, and blocks of tensors."""
    return call2(load(process + at.PROCESS_RECLAIM), process, 0)


@native
def give_stocked(process: Address, slab: Address) -> None:
    """Put a slab, which is counted, into the stock."""
    push(process + at.PROCESS_STOCK, slab, at.SLAB_NEXT)
    fetch_add(process + at.PROCESS_STOCKED, 1)


@native
def take_stocked(process: Address) -> Address:
    """A slab of the stock; 0 if that is empty, or another thread has them all for a moment."""
    slab = take_one(process + at.PROCESS_STOCK, at.SLAB_NEXT)
    if slab != 0:
        fetch_add(process + at.PROCESS_STOCKED, -1)
    return slab


@entry
def fill_stock(process: Address) -> None:
    """Have a full stock, as far as the system has memory.  The budget is not asked."""
    # The stock is for runs that are refused memory: they still need some to end in good order.
    while load_acquire(process + at.PROCESS_STOCKED) < STOCK:
        slab = allocate_aligned(at.SLAB_SIZE, at.SLAB_ROOM)
        if slab == 0:
            return
        fetch_add(process + at.PROCESS_HELD, at.SLAB_SIZE)
        give_stocked(process, slab)


@entry
def empty_stock(process: Address) -> None:
    """Give the stock back."""
    slab = take_stocked(process)
    while slab != 0:
        release(slab)
        give_back(process, at.SLAB_SIZE)
        slab = take_stocked(process)


@entry
def trim(process: Address, kept: int) -> int:
    """Give slabs back whose blocks are all in the depot, until the process holds `kept` bytes.

    The stock is filled first.  Returns how many slabs were found; 0 while another thread trims.
    """
    # One thread at a time: the words of slabs that it sorts blocks with are plain.
    if compare_and_swap(process + at.PROCESS_TRIMMING, 0, 1) == 0:
        return 0
    found = 0
    for size_class in range(1, at.FREE_CLASSES):
        if load_acquire(process + at.PROCESS_HELD) > kept:
            found += trim_class(process, size_class)
    store_release(process + at.PROCESS_TRIMMING, 0)
    return found


@native
def trim_class(process: Address, size_class: int) -> int:
    """As `trim`, for one size class; by the one thread that trims."""
    # The left slabs and the batches are this thread's now: others find none, and cut new blocks meanwhile.
    left = take_all(process + at.PROCESS_LEFT + 8 * size_class)
    slabs = sort_by_slab(take_all(process + at.PROCESS_DEPOT + 8 * size_class))
    while left != 0:
        slab = left
        left = load(slab + at.SLAB_LINK)
        if load(slab + at.SLAB_FREE) == load(slab + at.SLAB_CARVED):
            store(slab + at.SLAB_OPEN, 0)
        else:
            push(process + at.PROCESS_LEFT + 8 * size_class, slab, at.SLAB_LINK)
    found = 0
    first = 0
    count = 0
    while slabs != 0:
        slab = slabs
        slabs = load(slab + at.SLAB_NEXT)
        free = load(slab + at.SLAB_FREE)
        store(slab + at.SLAB_FREE, 0)
        # Acquire: SLAB_CARVED has its last value once the slab is closed.
        if load_acquire(slab + at.SLAB_OPEN) == 0 and free == load(slab + at.SLAB_CARVED):
            found += 1
            if load_acquire(process + at.PROCESS_STOCKED) < STOCK:
                give_stocked(process, slab)
            else:
                release(slab)
                give_back(process, at.SLAB_SIZE)
        else:
            # Blocks of a slab stay together: a thread that takes the batch finds the next one near the last.
            block = load(slab + at.SLAB_LIST)
            while block != 0:
                following = load(block + at.VALUE_NEXT)
                store(block + at.VALUE_NEXT, first)
                first = block
                block = following
            count += free
        if first != 0 and (slabs == 0 or count * size_class >= at.BATCH_CELLS):
            store(first + at.BATCH_COUNT, count)
            give_batches(process, size_class, first, first)
            first = 0
            count = 0
    return found


@native
def sort_by_slab(batches: Address) -> Address:
    """The slabs of the blocks in linked batches, each with the list and the number of its blocks."""
    slabs = 0
    while batches != 0:
        block = batches
        batches = load(block + at.BATCH_NEXT)
        while block != 0:
            following = load(block + at.VALUE_NEXT)
            slab = block & -at.SLAB_SIZE
            free = load(slab + at.SLAB_FREE)
            if free == 0:
                store(slab + at.SLAB_LIST, 0)
                store(slab + at.SLAB_NEXT, slabs)
                slabs = slab
            store(slab + at.SLAB_FREE, free + 1)
            store(block + at.VALUE_NEXT, load(slab + at.SLAB_LIST))
            store(slab + at.SLAB_LIST, block)
            block = following
    return slabs


@native
def give_all(context: Address) -> None:
    """Let other threads have the free blocks of this one, and the rest of the slabs that it cuts."""
    for size_class in range(1, at.FREE_CLASSES):
        leave_slab(context, size_class)
        give_free(context, size_class)


@native
def give_free(context: Address, size_class: int) -> None:
    """Let other threads have the free blocks of a size class of this one."""
    process = load(context + at.CONTEXT_PROCESS)
    spare = load(context + at.CONTEXT_SPARE + 8 * size_class)
    if spare != 0:
        give_batches(process, size_class, spare, spare)
        store(context + at.CONTEXT_SPARE + 8 * size_class, 0)
    batch = take_list(context, size_class)
    if batch != 0:
        give_batches(process, size_class, batch, batch)


@native
def give_if_much(context: Address) -> None:
    """This thread is about to sleep: it keeps few free blocks, and no slab if the process holds more than it may at rest."""
    if load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_HELD) > at.KEPT_AT_REST:
        give_all(context)
    else:
        keep_few(context)


@native
def keep_few(context: Address) -> None:
    """Let other threads have the longer lists of free blocks of this one.

    A free block in a list keeps a whole slab from being given back, and they may be of as many slabs.  A thread
    that only gives back what others make would collect two full batches, while the others cut new slabs.
    """
    for size_class in range(1, at.FREE_CLASSES):
        if load(context + at.CONTEXT_FREE_COUNT + 8 * size_class) * size_class >= at.IDLE_CELLS:
            give_free(context, size_class)


@entry
def trim_at_rest(context: Address) -> None:
    """No run is left: give back what the process holds beyond KEPT_AT_REST, as far as it is free.

    What is alive, and free blocks beside it, may be more than that after each of many short runs.  A look at all free
    blocks then takes ten thousand times as long as a run: so there is a pause after each look, in proportion.
    """
    process = load(context + at.CONTEXT_PROCESS)
    start = now()
    if start < load_acquire(process + at.PROCESS_TRIM_NEXT):
        return
    give_all(context)
    trim(process, at.KEPT_AT_REST)
    if load_acquire(process + at.PROCESS_HELD) > at.KEPT_AT_REST:
        end = now()
        store_release(process + at.PROCESS_TRIM_NEXT, end + at.TRIM_PAUSE * (end - start))


@native
def fill_unwritten(context: Address, start: Address, size: int, is_fresh: bool) -> None:
    """Let `size` bytes of a block, rounded up to words, hold nothing of the process; see QUEUE_CHOOSE.

    Of a large block that is fresh, the system has or clears the pages when they are used.
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
