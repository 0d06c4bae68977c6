"""Buffers of compiled code: memory whose use after it has been freed is detected.

    handle = address of the block's header | generation << 48 | HANDLE_CONSTANT
    block  = header (64 bytes), elements

The allocated pointer in a descriptor is a handle; the aligned pointer is an ordinary address.  A
buffer is live while the generation in its header equals the generation in its handle; freeing the
buffer adds 1.  Handles of generation 0 have no block: their header is a word that is 0 for memory
that lives forever (globals, frames, memory that Python lends) and 1 for memory that never existed
(no memory left, `ub.poison`).

Blocks are type-stable (Greenwald and Cheriton 1996, OSDI, "The Synergy Between Non-blocking
Synchronization and Operating System Structure"): a block of a size class is reused only for that
class, and stays mapped.  Therefore, a thread that uses a buffer while another thread frees it may
change elements of some buffer, but never a header or any other memory of the process.  After its
last generation, a block is not used again.

The free blocks of a class are in a stack, which holds their next handles.  Because a handle never
returns to the stack, the head that a thread compares is the same handle that it has read: there is
no ABA problem.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import LARGE, PAGE, fill_unwritten, give_back, reserve
from tfrt_runtime.native.coroutines.async_awaiting import here
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    compare_and_swap,
    discard,
    entry,
    exported,
    fetch_add,
    load,
    load_acquire,
    native,
    store,
    store_release,
)

LAST_GENERATION = (1 << 15) - 1
"""The last generation, chosen so that handles stay positive."""
LINE_BITS = 6
MAX_BYTES = 1 << 45
"""The maximum size of a buffer; larger buffers are refused."""
CHUNK = 1 << 14
"""The number of bytes that are divided into small blocks of one class."""
MAX_PAGES = 1 << 26
"""The maximum number of bytes in large free blocks that keep their pages; new pages cost more."""


@native
def block_of(handle: int) -> Address:
    """Return the block, or the header, of a handle."""
    return handle & at.HANDLE_ADDRESS


@native
def buffers_of(context: Address) -> Address:
    """Return the state that all threads share."""
    return load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_BUFFERS)


@native
def push_free(stack: Address, handle: int) -> None:
    """Let other threads use a block under its next handle."""
    following = block_of(handle) + at.BLOCK_NEXT
    head = load_acquire(stack)
    # Atomic: a slow thread in `pop_free` may read this word of a block that it does not own.
    store_release(following, head)
    while compare_and_swap(stack, head, handle) == 0:
        head = load_acquire(stack)
        store_release(following, head)


@native
def pop_free(stack: Address) -> int:
    """Take the handle of a free block of the class; return 0 if none is free."""
    handle = load_acquire(stack)
    while handle != 0:
        # Another thread may already own the block and write this word; in that case, the head has
        # changed.
        following = load_acquire(block_of(handle) + at.BLOCK_NEXT)
        if compare_and_swap(stack, handle, following) == 1:
            return handle
        handle = load_acquire(stack)
    return 0


@native
def make_blocks(stack: Address, number: int, size: int) -> int:
    """Make blocks of a class, and push all but one of them onto the stack of the class.

    Returns the handle of the remaining block, or 0 if not enough memory is available.
    """
    count = max(1, CHUNK // size)
    chunk = allocate(count * size)
    if chunk == 0:
        return 0
    for index in range(count):
        block = chunk + index * size
        store_release(block + at.BLOCK_GENERATION, 1)
        store_release(block + at.BLOCK_OWNER, 2)
        store(block + at.BLOCK_SIZE, size)
        store(block + at.BLOCK_CLASS, number)
        store(block + at.BLOCK_HAS_PAGES, 0)
        store_release(block + at.BLOCK_NEXT, 0)
        if index > 0:
            push_free(stack, block | 1 << at.HANDLE_SHIFT)
    return chunk | 1 << at.HANDLE_SHIFT


@native
def new_buffer(context: Address, size: int) -> int:
    """Return the handle of a buffer of `size` bytes.

    The handle is dead if not enough memory is available.

    Block sizes are multiples of a cache line up to eight lines; beyond that, there are four sizes
    per power of 2.
    """
    buffers = buffers_of(context)
    if size < 0 or size > MAX_BYTES:
        return buffers + at.BUFFERS_DEAD
    # The class is the number of lines, rounded up to three significant bits, so at most a quarter
    # is wasted.
    last_line = (size + at.BLOCK_ELEMENTS - 1) >> LINE_BITS
    shift = 0
    while last_line >> shift >= 8:
        shift += 1
    top = last_line >> shift
    block_size = (top + 1) << (shift + LINE_BITS)
    if not reserve(context, block_size):
        return buffers + at.BUFFERS_DEAD
    number = 4 * shift + top
    stack = buffers + at.BUFFERS_FREE + 8 * number
    handle = pop_free(stack)
    if handle == 0:
        handle = make_blocks(stack, number, block_size)
    if handle == 0:
        give_back(load(context + at.CONTEXT_PROCESS), block_size)
        return buffers + at.BUFFERS_DEAD
    block = block_of(handle)
    has_pages = load(block + at.BLOCK_HAS_PAGES) != 0
    if has_pages:
        store(block + at.BLOCK_HAS_PAGES, 0)
        fetch_add(buffers + at.BUFFERS_PAGES, -block_size)
    fill_unwritten(context, block + at.BLOCK_ELEMENTS, size, not has_pages)
    return handle


@native
def free_block(context: Address, handle: int, kept: int) -> int:
    """Free a live block if its flag BLOCK_KEPT equals `kept`.

    Return whether the block was freed.
    """
    generation = handle >> at.HANDLE_SHIFT
    block = block_of(handle)
    # The header of a handle that has no block must not be written.
    if generation == 0 or load_acquire(block + at.BLOCK_GENERATION) != generation:
        return 0
    following = generation + 1
    # One swap decides between two threads that free the same buffer, and between `free` and `keep`.
    if compare_and_swap(block + at.BLOCK_OWNER, 2 * generation + kept, 2 * following) == 0:
        return 0
    # From here on, a use of the old handle is detected as a use after free.
    store_release(block + at.BLOCK_GENERATION, following)
    buffers, size = buffers_of(context), load(block + at.BLOCK_SIZE)
    is_last = following > LAST_GENERATION
    if size >= LARGE:
        if is_last or load_acquire(buffers + at.BUFFERS_PAGES) + size > MAX_PAGES:
            first = (block + at.BLOCK_ELEMENTS + PAGE - 1) & -PAGE
            discard(first, ((block + size) & -PAGE) - first)
        else:
            store(block + at.BLOCK_HAS_PAGES, 1)
            fetch_add(buffers + at.BUFFERS_PAGES, size)
    give_back(load(context + at.CONTEXT_PROCESS), size)
    # After its last generation, a block is not used again, because its handles are exhausted.
    if not is_last:
        stack = buffers + at.BUFFERS_FREE + 8 * load(block + at.BLOCK_CLASS)
        push_free(stack, block | following << at.HANDLE_SHIFT)
    return 1


@entry
def keep_buffer(context: Address, handle: int) -> int:
    """Reserve the right to free a buffer for `free_kept`; compiled code can no longer free the
    buffer.

    Returns 0 if the buffer is dead or already kept.
    """
    generation, block = handle >> at.HANDLE_SHIFT, block_of(handle)
    if generation == 0 or load_acquire(block + at.BLOCK_GENERATION) != generation:
        return 0
    owner = 2 * generation
    return compare_and_swap(block + at.BLOCK_OWNER, owner, owner + at.BLOCK_KEPT)


@entry
def free_kept(context: Address, handle: int) -> int:
    """Free a buffer that `keep_buffer` has kept."""
    return free_block(context, handle, at.BLOCK_KEPT)


@native
def new_frame_buffer(context: Address, size: int, last: int) -> int:
    """Make a buffer that is freed only at the end of a function.

    `last` is the function's previous buffer, or 0.
    """
    handle = new_buffer(context, size)
    if handle >> at.HANDLE_SHIFT != 0:
        block = block_of(handle)
        keep_buffer(context, handle)
        store_release(block + at.BLOCK_NEXT, last)
    return handle


@native
def free_frame_buffers(context: Address, last: int) -> None:
    """Free the buffers of a function that has returned."""
    while last != 0:
        before = load_acquire(block_of(last) + at.BLOCK_NEXT)
        free_block(context, last, at.BLOCK_KEPT)
        last = before


@exported("tfrtAsyncNewBuffer", "ptr", "i64")
def new_buffer_here(size: int) -> int:
    """Return the handle of a buffer for `memref.alloc`."""
    return new_buffer(here(), size)


@exported("tfrtAsyncNewFrameBuffer", "ptr", "i64", "ptr")
def new_frame_buffer_here(size: int, last: Address) -> int:
    """Return the handle of a buffer for `memref.alloca`.

    `last` is the address at which the function stores its latest buffer.
    """
    handle = new_frame_buffer(here(), size, load(last))
    if handle >> at.HANDLE_SHIFT != 0:
        store(last, handle)
    return handle


@exported("tfrtAsyncFreeBuffer", "i1", "ptr")
def free_buffer_here(handle: int) -> int:
    """Free a buffer of `memref.alloc`.

    Return whether the handle belonged to such a buffer and was live.
    """
    return free_block(here(), handle, 0)


@exported("tfrtAsyncFreeFrameBuffers", "void", "ptr")
def free_frame_buffers_here(last: int) -> None:
    """Free the buffers of a function that has returned; `last` is the latest of them."""
    free_frame_buffers(here(), last)
