"""Buffers for compiled code: memory in which use after free is detected.

    handle = address of the block's header | generation << 48 | HANDLE_CONSTANT
    block  = header (64 bytes), elements

A memref descriptor has two pointers.  Here, the allocated pointer is a handle, and the aligned
pointer is an ordinary address.  A buffer is live while the generation in its header equals the
generation in its handle.  Freeing the buffer adds 1 to the generation in the header.

A handle with generation 0 has no block, only a word as its header.  The word is 0 for memory that
lives forever (globals, frames, memory that Python lends).  It is 1 for memory that never existed
(after memory ran out, or for `ub.poison`).

Blocks are type-stable (Greenwald and Cheriton 1996, OSDI, "The Synergy Between Non-blocking
Synchronization and Operating System Structure"): a block of a size class is reused only for that
class, and stays mapped.  A thread may use a buffer while another thread frees it.  The first thread
may then change elements of another buffer, but never a header or any other memory of the process.
A block that has reached the last generation is never reused.

The free blocks of a class form a lock-free stack.  Each is stored as the handle that it will get
next.  No handle is pushed twice, so there is no ABA problem.
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
"""The maximum size of a buffer in bytes."""
CHUNK = 1 << 14
"""The number of bytes that are allocated at once and divided into small blocks of one class."""
MAX_PAGES = 1 << 26
"""How many bytes of large free blocks may keep their pages, because new pages cost time."""


@native
def block_of(handle: int) -> Address:
    """Return the address of a handle's block or header."""
    return handle & at.HANDLE_ADDRESS


@native
def buffers_of(context: Address) -> Address:
    """Return the process's buffer state, which all threads share."""
    return load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_BUFFERS)


@native
def push_free(stack: Address, handle: int) -> None:
    """Push a block onto a stack of free blocks; `handle` is the block's next handle."""
    following = block_of(handle) + at.BLOCK_NEXT
    head = load_acquire(stack)
    # Atomic: a slow thread in `pop_free` may read this word of a block that it does not own.
    store_release(following, head)
    while compare_and_swap(stack, head, handle) == 0:
        head = load_acquire(stack)
        store_release(following, head)


@native
def pop_free(stack: Address) -> int:
    """Take a handle from a stack of free blocks; return 0 if the stack is empty."""
    handle = load_acquire(stack)
    while handle != 0:
        # Another thread may already own the block and write this word. In that case, the head has
        # changed, and the swap fails.
        following = load_acquire(block_of(handle) + at.BLOCK_NEXT)
        if compare_and_swap(stack, handle, following) == 1:
            return handle
        handle = load_acquire(stack)
    return 0


@native
def make_blocks(stack: Address, number: int, size: int) -> int:
    """Allocate blocks of a class, and push all but one onto the class's stack.

    Return the handle of the remaining block, or 0 if memory runs out.
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
    """Return the handle of a new buffer of `size` bytes.

    If memory runs out or the size is invalid, the handle is dead.  Block sizes up to eight cache
    lines are multiples of a line.  Above that, there are four block sizes per power of 2.
    """
    buffers = buffers_of(context)
    if size < 0 or size > MAX_BYTES:
        return buffers + at.BUFFERS_DEAD
    # The number of lines is rounded up to three significant bits, so at most a quarter of the block
    # is wasted.
    last_line = (size + at.BLOCK_ELEMENTS - 1) >> LINE_BITS
    shift = 0
    while last_line >> shift >= 8:
        shift += 1
    top = last_line >> shift
    block_size = (top + 1) << (shift + LINE_BITS)
    # The budget counts live buffers, so reserve memory even if a free block is reused. `free_block`
    # subtracts the size again.
    if not reserve(context, block_size):
        return buffers + at.BUFFERS_DEAD
    # For a positive shift, `top` is 4 to 7, so no two classes have the same number.
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
    """Free a live block if its flag BLOCK_KEPT equals `kept`; return whether it was freed."""
    generation = handle >> at.HANDLE_SHIFT
    block = block_of(handle)
    # A handle with generation 0 has no block, so its header must not be written.
    if generation == 0 or load_acquire(block + at.BLOCK_GENERATION) != generation:
        return 0
    following = generation + 1
    # If several threads free or keep the same buffer, only one swap succeeds.
    if compare_and_swap(block + at.BLOCK_OWNER, 2 * generation + kept, 2 * following) == 0:
        return 0
    # From now on, a use of the old handle is detected as a use after free.
    store_release(block + at.BLOCK_GENERATION, following)
    buffers, size = buffers_of(context), load(block + at.BLOCK_SIZE)
    is_last = following > LAST_GENERATION
    if size >= LARGE:
        # The limit is approximate: threads that free blocks at the same time may exceed it.
        if is_last or load_acquire(buffers + at.BUFFERS_PAGES) + size > MAX_PAGES:
            # Keep the page with the header: old handles are still compared with its generation.
            first = (block + at.BLOCK_ELEMENTS + PAGE - 1) & -PAGE
            discard(first, ((block + size) & -PAGE) - first)
        else:
            store(block + at.BLOCK_HAS_PAGES, 1)
            fetch_add(buffers + at.BUFFERS_PAGES, size)
    give_back(load(context + at.CONTEXT_PROCESS), size)
    # A block that has used up its generations is never reused.
    if not is_last:
        stack = buffers + at.BUFFERS_FREE + 8 * load(block + at.BLOCK_CLASS)
        push_free(stack, block | following << at.HANDLE_SHIFT)
    return 1


@entry
def keep_buffer(context: Address, handle: int) -> int:
    """Keep a buffer: from now on, only `free_kept` can free it, and compiled code cannot.

    Return 0 if the buffer is dead or already kept.
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
    """Make a buffer that lives until its function returns.

    `last` is the handle of the previous buffer of this kind in the function, or 0.
    """
    handle = new_buffer(context, size)
    if handle >> at.HANDLE_SHIFT != 0:
        block = block_of(handle)
        # `memref.dealloc` must not free the buffer, because its function will.
        keep_buffer(context, handle)
        # Atomic for the reason given in `push_free`.
        store_release(block + at.BLOCK_NEXT, last)
    return handle


@native
def free_frame_buffers(context: Address, last: int) -> None:
    """Free the buffers of a function that has returned; `last` is the handle of the newest."""
    while last != 0:
        # Read the link first: freeing the block may overwrite it.
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

    `last` is the address of the word in which the function stores the handle of its newest buffer.
    """
    handle = new_frame_buffer(here(), size, load(last))
    if handle >> at.HANDLE_SHIFT != 0:
        store(last, handle)
    return handle


@exported("tfrtAsyncFreeBuffer", "i1", "ptr")
def free_buffer_here(handle: int) -> int:
    """Free a buffer from `memref.alloc`; return whether the handle was live."""
    return free_block(here(), handle, 0)


@exported("tfrtAsyncFreeFrameBuffers", "void", "ptr")
def free_frame_buffers_here(last: int) -> None:
    """Free the buffers of a function that has returned; `last` is the handle of the newest."""
    free_frame_buffers(here(), last)
