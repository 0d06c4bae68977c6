"""Return free memory to the system: slabs whose blocks are all in the depot (`cells`)."""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import (
    STOCK,
    give_back,
    give_batches,
    give_stocked,
    leave_slab,
    take_list,
)
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    load,
    load_acquire,
    native,
    now,
    push,
    release,
    store,
    store_release,
    take_all,
)


@entry
def trim(process: Address, kept: int) -> int:
    """Free slabs whose blocks are all in the depot, until the process holds at most `kept` bytes.

    The slabs go to the stock until it is full.  Return how many slabs were found, or 0 if another
    thread is trimming.
    """
    # Only one thread may trim at a time, because sorting blocks by slab uses plain accesses to the
    # slabs' words.
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
    """Free slabs of one size class as `trim` does; PROCESS_TRIMMING must already be set."""
    # Take all left slabs and all batches. Until this thread returns them, other threads find none,
    # and cut new blocks.
    left = take_all(process + at.PROCESS_LEFT + 8 * size_class)
    slabs = sort_by_slab(take_all(process + at.PROCESS_DEPOT + 8 * size_class))
    while left != 0:
        slab = left
        left = load(slab + at.SLAB_LINK)
        if load(slab + at.SLAB_FREE) == load(slab + at.SLAB_CARVED):
            # No thread can cut this slab now, and all its blocks are free: close it, so that the
            # next loop finds it.
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
        # Acquire: SLAB_CARVED is final once the slab is closed.
        if load_acquire(slab + at.SLAB_OPEN) == 0 and free == load(slab + at.SLAB_CARVED):
            found += 1
            if load_acquire(process + at.PROCESS_STOCKED) < STOCK:
                give_stocked(process, slab)
            else:
                release(slab)
                give_back(process, at.SLAB_SIZE)
        else:
            # Keep a slab's blocks together, so that a thread that takes the batch gets
            # neighboring blocks.
            block = load(slab + at.SLAB_LIST)
            while block != 0:
                following = load(block + at.VALUE_NEXT)
                store(block + at.VALUE_NEXT, first)
                first = block
                block = following
            count += free
        # Join blocks of several slabs into batches of the usual size: from small batches, threads
        # would have to return to the depot more often.
        if first != 0 and (slabs == 0 or count * size_class >= at.BATCH_CELLS):
            store(first + at.BATCH_COUNT, count)
            give_batches(process, size_class, first, first)
            first = 0
            count = 0
    return found


@native
def sort_by_slab(batches: Address) -> Address:
    """Sort the blocks of linked batches by slab; return the slabs as a list linked by SLAB_NEXT.

    Each slab then has its blocks in SLAB_LIST and their count in SLAB_FREE.
    """
    slabs = 0
    while batches != 0:
        block = batches
        batches = load(block + at.BATCH_NEXT)
        while block != 0:
            following = load(block + at.VALUE_NEXT)
            slab = block & -at.SLAB_SIZE
            free = load(slab + at.SLAB_FREE)
            # SLAB_FREE is 0 between trims, so 0 marks the first block of a slab.
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
    """Hand this thread's free blocks, and the rest of its slabs, over to other threads."""
    for size_class in range(1, at.FREE_CLASSES):
        leave_slab(context, size_class)
        give_free(context, size_class)


@native
def give_free(context: Address, size_class: int) -> None:
    """Hand this thread's free blocks of one size class over to other threads."""
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
    """Hand most of this thread's free blocks over to other threads before this thread sleeps.

    If the process holds more than KEPT_AT_REST bytes, hand over all free blocks and slabs.
    """
    if load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_HELD) > at.KEPT_AT_REST:
        give_all(context)
    else:
        keep_few(context)


@native
def keep_few(context: Address) -> None:
    """Hand this thread's longer lists of free blocks over to other threads.

    A free block in a list prevents its whole slab from being freed, and each block may be from a
    different slab.  Without this function, a thread that frees other threads' values would collect
    two full batches, while the other threads cut new slabs.
    """
    for size_class in range(1, at.FREE_CLASSES):
        if load(context + at.CONTEXT_FREE_COUNT + 8 * size_class) * size_class >= at.IDLE_CELLS:
            give_free(context, size_class)


@entry
def trim_at_rest(context: Address) -> None:
    """Free unused memory beyond KEPT_AT_REST bytes; call this when no run is left.

    Live memory may exceed KEPT_AT_REST even when no run is left, and a trim takes ten thousand
    times as long as a short run.  Therefore, a trim that leaves too much memory is followed by a
    pause whose length is proportional to the trim's duration.
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
