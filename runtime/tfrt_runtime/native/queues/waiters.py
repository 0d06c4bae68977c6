"""Publishing a value, and doing what waited for it.

Nothing here recurses: waiters that come up while others run join the list that the thread is at.
"""

from __future__ import annotations

from tfrt_runtime.native.async_value import drop_reference, point_at, take_waiters
from tfrt_runtime.native.cells import give_block, give_cell
from tfrt_runtime.native.layouts import (
    CELL_SIZE,
    CONTEXT_PROCESS,
    CONTEXT_PUBLISHING,
    CONTEXT_QUEUE,
    CONTEXT_WAITERS,
    ERROR,
    JOIN_ERROR,
    JOIN_LEFT,
    LATCH_ASLEEP,
    LATCH_OWNERS,
    LATCH_PENDING,
    PROCESS_PYTHON_WAITER,
    PROCESS_RESUMING,
    READY_END,
    READY_JOIN,
    STATE_BITS,
    VALUE_STATE,
    WAIT_CALL,
    WAIT_END,
    WAIT_FORWARD,
    WAIT_JOIN,
    WAIT_LATCH,
    WAIT_NOTIFY,
    WAIT_PYTHON,
    WAIT_REGISTER,
    WAIT_TASK,
    WAITER_FIRST,
    WAITER_KIND,
    WAITER_NEXT,
    WAITER_RUN,
    WAITER_SECOND,
    WAITER_THIRD,
    WAITER_VALUE,
)
from tfrt_runtime.native.memory import (
    Address,
    call2,
    call3,
    compare_and_swap,
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
    """Make `value` available in `state`; its payload is in place.  Runs what waited for it."""
    run_waiters(context, take_waiters(value, state))


@native
def run_waiters(context: Address, waiters: Address) -> None:
    """Run a list of waiters.  Waiters that come up meanwhile on this thread join the list.

    So a chain of a million values that forward to each other takes one level of the stack.
    """
    queue_waiters(context, waiters)
    if load(context + CONTEXT_PUBLISHING) != 0:
        return
    store(context + CONTEXT_PUBLISHING, 1)
    while load(context + CONTEXT_WAITERS) != 0:
        waiter = load(context + CONTEXT_WAITERS)
        store(context + CONTEXT_WAITERS, load(waiter + WAITER_NEXT))
        run_waiter(context, waiter)
    store(context + CONTEXT_PUBLISHING, 0)


@native
def queue_waiters(context: Address, waiters: Address) -> None:
    """Put a list of waiters in front of those that this thread is about to run."""
    if waiters != 0:
        last = waiters
        while load(last + WAITER_NEXT) != 0:
            last = load(last + WAITER_NEXT)
        store(last + WAITER_NEXT, load(context + CONTEXT_WAITERS))
        store(context + CONTEXT_WAITERS, waiters)


@native
def run_waiter(context: Address, waiter: Address) -> None:
    """Do what a waiter waited for; frees it."""
    kind = load(waiter + WAITER_KIND)
    first = load(waiter + WAITER_FIRST)
    second = load(waiter + WAITER_SECOND)
    value = load(waiter + WAITER_VALUE)
    # Other kinds need not write these two words.
    third = load(waiter + WAITER_THIRD) if kind == WAIT_TASK else 0
    run = load(waiter + WAITER_RUN) if kind == WAIT_TASK else 0
    # Before it runs: what it starts may take the cell again.
    give_cell(context, waiter)
    if kind == WAIT_REGISTER:
        watched_register_resolved(context, first, second, value)
    elif kind == WAIT_FORWARD:
        queue_waiters(context, point_at(context, first, second))
        drop_reference(context, first)
    elif kind == WAIT_PYTHON:
        call2(load(load(context + CONTEXT_PROCESS) + PROCESS_PYTHON_WAITER), context, first)
    elif kind == WAIT_END:
        push_ready(context, first | READY_END, 0)
    elif kind == WAIT_JOIN:
        join_resolved(context, first, value)
    elif kind == WAIT_LATCH:
        # The word first: a thread that is woken before it is 0 sleeps again, and no other wake-up comes.
        release_latch(context, first)
        wake_waiting(load(context + CONTEXT_QUEUE))
        drop_latch(context, first)
    elif kind == WAIT_CALL:
        call2(first, context, second)
    elif kind == WAIT_TASK:
        add_local_task(context, new_task(context, third, first, second, run))
    elif kind == WAIT_NOTIFY:
        call3(first, context, second, value)


@native
def join_resolved(context: Address, join: Address, value: Address) -> None:
    """A block's chain is resolved; the first error becomes the loop's.  Consumes a reference."""
    # The swap lets one thread store its error; all others drop theirs.
    is_error = load_acquire(value + VALUE_STATE) & STATE_BITS == ERROR
    if not is_error or compare_and_swap(join + JOIN_ERROR, 0, value) == 0:
        drop_reference(context, value)
    leave_join(context, join, 1)


@native
def leave_join(context: Address, join: Address, parts: int) -> None:
    """Parts of a parallel loop are done; after the last one the run loop ends the join."""
    # A read-modify-write: of two threads that end the last two parts, one sees that none is left, and
    # what the other has written comes before that.
    if fetch_add(join + JOIN_LEFT, -parts) == parts:
        push_ready(context, join | READY_JOIN, 0)


@native
def release_latch(context: Address, latch: Address) -> None:
    """The value of a latch is resolved: set its word to 0.

    A thread that sleeps on the latch has an even activity epoch until it runs again.  PROCESS_RESUMING
    counts it in between; otherwise the queue would seem quiescent although that thread will go on.
    """
    # Added before the exchange and taken back, not added after it: there must be no moment in which the
    # word is 0 and the thread is not counted.
    resuming = load(context + CONTEXT_PROCESS) + PROCESS_RESUMING
    fetch_add(resuming, 1)
    if exchange(latch + LATCH_PENDING, 0) != LATCH_ASLEEP:
        fetch_add(resuming, -1)


@native
def drop_latch(context: Address, latch: Address) -> None:
    """One of a latch's two owners drops it; the last one frees it."""
    if fetch_add(latch + LATCH_OWNERS, -1) == 1:
        give_block(context, latch, CELL_SIZE)
