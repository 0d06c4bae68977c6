"""Publish a value, and run its waiters.

Nothing here recurses: waiters that become due while others run join the list that the thread is
running.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, is_available, point_at, take_waiters
from tfrt_runtime.native.cells import give_block, give_cell
from tfrt_runtime.native.memory import (
    Address,
    call2,
    call3,
    compare_and_swap,
    entry,
    exchange,
    fetch_add,
    load,
    load_acquire,
    native,
    store,
)
from tfrt_runtime.native.queues.ready import push_ready, watched_register_resolved
from tfrt_runtime.native.queues.tasks import add_local_task, new_task, wake_waiting


@native
def publish(context: Address, value: Address, state: int) -> None:
    """Make `value` available in `state` and run its waiters.  Its payload is already stored."""
    run_waiters(context, take_waiters(value, state))


@native
def run_waiters(context: Address, waiters: Address) -> None:
    """Run a list of waiters.  Waiters that become due meanwhile on this thread join the list.

    Therefore a chain of a million values that forward to each other takes one level of the stack.
    """
    queue_waiters(context, waiters)
    # A caller further up this stack runs the list.
    if load(context + at.CONTEXT_PUBLISHING) != 0:
        return
    store(context + at.CONTEXT_PUBLISHING, 1)
    while load(context + at.CONTEXT_WAITERS) != 0:
        waiter = load(context + at.CONTEXT_WAITERS)
        store(context + at.CONTEXT_WAITERS, load(waiter + at.WAITER_NEXT))
        run_waiter(context, waiter)
    store(context + at.CONTEXT_PUBLISHING, 0)


@native
def queue_waiters(context: Address, waiters: Address) -> None:
    """Put a list of waiters in front of those that this thread is about to run."""
    if waiters != 0:
        last = waiters
        while load(last + at.WAITER_NEXT) != 0:
            last = load(last + at.WAITER_NEXT)
        store(last + at.WAITER_NEXT, load(context + at.CONTEXT_WAITERS))
        store(context + at.CONTEXT_WAITERS, waiters)


@native
def run_waiter(context: Address, waiter: Address) -> None:
    """Run a waiter's action; free the waiter."""
    kind = load(waiter + at.WAITER_KIND)
    first = load(waiter + at.WAITER_FIRST)
    second = load(waiter + at.WAITER_SECOND)
    value = load(waiter + at.WAITER_VALUE)
    # Other kinds need not write these two words.
    third = load(waiter + at.WAITER_THIRD) if kind == at.WAIT_TASK else 0
    run = load(waiter + at.WAITER_RUN) if kind == at.WAIT_TASK else 0
    # Before it runs: the action may take the cell again.
    give_cell(context, waiter)
    if kind == at.WAIT_REGISTER:
        watched_register_resolved(context, first, second, value)
    elif kind == at.WAIT_FORWARD:
        # The indirect value may be an error by now, without its target: `handles.value_break`.
        if is_available(first):
            drop_reference(context, second)
        else:
            queue_waiters(context, point_at(context, first, second))
        drop_reference(context, first)
    elif kind == at.WAIT_PYTHON:
        call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PYTHON_WAITER), context, first)
    elif kind == at.WAIT_END:
        push_ready(context, first | at.READY_END, 0)
    elif kind == at.WAIT_JOIN:
        join_resolved(context, first, value)
    elif kind == at.WAIT_LATCH:
        # The word first: a thread that is woken before the word is 0 sleeps again, and no other
        # wake-up comes.
        release_latch(context, first)
        wake_waiting(load(context + at.CONTEXT_QUEUE))
        drop_latch(context, first)
    elif kind == at.WAIT_CALL:
        call2(first, context, second)
    elif kind == at.WAIT_TASK:
        add_local_task(context, new_task(context, third, first, second, run))
    elif kind == at.WAIT_NOTIFY:
        call3(first, context, second, value)


@native
def join_resolved(context: Address, join: Address, value: Address) -> None:
    """Count a block's resolved chain; the first error becomes the loop's.  Consumes a reference."""
    # The swap lets one thread store its error; all others drop theirs.
    is_error = load_acquire(value + at.VALUE_STATE) & at.STATE_BITS == at.ERROR
    if not is_error or compare_and_swap(join + at.JOIN_ERROR, 0, value) == 0:
        drop_reference(context, value)
    leave_join(context, join, 1)


@native
def leave_join(context: Address, join: Address, parts: int) -> None:
    """Count finished parts of a parallel loop; after the last one the run loop ends the join."""
    # A read-modify-write: of two threads that finish the last two parts, one sees that none is
    # left, and the other's writes happen before that.
    if fetch_add(join + at.JOIN_LEFT, -parts) == parts:
        push_ready(context, join | at.READY_JOIN, 0)


@native
def release_latch(context: Address, latch: Address) -> None:
    """Set the word of a latch whose value is resolved to 0.

    A thread that sleeps on the latch has an even activity epoch until it runs again.
    PROCESS_RESUMING counts it in between; otherwise the queue would seem quiescent although that
    thread will continue.
    """
    # Added before the exchange and subtracted again, not added after it: the word must never be 0
    # while the thread is not counted.
    resuming = load(context + at.CONTEXT_PROCESS) + at.PROCESS_RESUMING
    fetch_add(resuming, 1)
    if exchange(latch + at.LATCH_PENDING, 0) != at.LATCH_ASLEEP:
        fetch_add(resuming, -1)


@entry
def drop_latch(context: Address, latch: Address) -> None:
    """Drop a latch on behalf of one of its two owners; the last one frees it."""
    if fetch_add(latch + at.LATCH_OWNERS, -1) == 1:
        give_block(context, latch, at.CELL_SIZE)
