"""The budget: how much memory native code may take from the system.

Bytes are counted where slabs, buffers and other large blocks are taken from the system, not where a
program takes a value from a free list.  The process has one count; each queue may have a limit of its
own for what its programs add to it.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    call3,
    compare_and_swap,
    entry,
    fetch_add,
    load,
    load_acquire,
    native,
    outline,
    store,
)


@native
def memory_limit(context: Address) -> int:
    """What the process may hold while the programs of this thread's queue ask for more."""
    queue = load(context + at.CONTEXT_QUEUE)
    limit = 0
    if queue != 0:
        limit = load(queue + at.QUEUE_MEMORY_LIMIT)
    return (
        limit if limit != 0 else load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MEMORY_LIMIT)
    )


@entry
def limit_of(context: Address) -> int:
    """`memory_limit`, for Python."""
    return memory_limit(context)


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
