"""Publish a value, run its waiters, and count down to the kernels that become ready.

An entry of this thread's ready stack is a pair of words.  The low bits of the first word state the
kind of the entry: READY_KERNEL (activation, record), READY_DELIVERY (delivery, value), READY_END
(activation), READY_JOIN (join).

While only one thread refers to an activation, the activation's counters are plain words.  Before
another thread can reach the activation, that thread calls `mark_shared`; from then on, the counters
are atomic.

No function here recurses: waiters that become due while other waiters are running join the list
that the thread is running.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, is_available, point_at, take_waiters
from tfrt_runtime.native.cells import give_block, give_cell, need_block
from tfrt_runtime.native.events import is_watched, log_value, watch_of
from tfrt_runtime.native.memory import (
    Address,
    call2,
    call3,
    compare_and_swap,
    copy,
    entry,
    exchange,
    fetch_add,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    outline,
    store,
)
from tfrt_runtime.native.queues.tasks import add_local_task, new_task, wake_waiting


@inline
def push_ready(context: Address, activation: Address, record: Address) -> None:
    """Push a kernel onto this thread's stack of ready kernels."""
    # Only this thread accesses its stack; work for other threads becomes a task (`sharing`).
    top = load(context + at.CONTEXT_READY_TOP)
    if top == load(context + at.CONTEXT_READY_LIMIT):
        top = grow_ready(context)
    store(top, activation)
    store(top + 8, record)
    store(context + at.CONTEXT_READY_TOP, top + 16)


@outline
def grow_ready(context: Address) -> Address:
    """Double the size of the stack of ready kernels; return the new top."""
    base = load(context + at.CONTEXT_READY)
    size = load(context + at.CONTEXT_READY_TOP) - base
    larger = need_block(context, 2 * size)
    copy(larger, base, size)
    give_block(context, base, size)
    store(context + at.CONTEXT_READY, larger)
    store(context + at.CONTEXT_READY_LIMIT, larger + 2 * size)
    return larger + size


@native
def mark_shared(activation: Address) -> None:
    """Make the counters of an activation and its callers atomic before another thread sees them."""
    # Plain stores suffice: the calling thread is still the only one, and the waiter or task that
    # hands the activation over publishes them. The callers are included because the other thread
    # may be the one that ends this activation, and it then counts in the caller. A root has no
    # caller, and a join's caller was marked earlier.
    while activation != 0 and load(activation + at.ACTIVATION_SHARED) != at.SHARED_WITH_CALLERS:
        store(activation + at.ACTIVATION_SHARED, at.SHARED_WITH_CALLERS)
        kind = load(activation + at.ACTIVATION_RETURN)
        owner = load(activation + at.ACTIVATION_CALLER_RECORD)
        if kind == at.RETURN_LOOP:
            activation = load(owner + at.LOOP_CALLER)
        elif kind == at.RETURN_CALL:
            activation = load(activation + at.ACTIVATION_CALLER)
        else:
            return


@native
def add_pending(activation: Address) -> None:
    """Add one kernel or delivery that must finish before the activation ends."""
    if load(activation + at.ACTIVATION_SHARED) == 0:
        store(activation + at.ACTIVATION_REMAINING, load(activation + at.ACTIVATION_REMAINING) + 1)
    else:
        fetch_add(activation + at.ACTIVATION_REMAINING, 1)


@inline
def finish(context: Address, activation: Address) -> None:
    """Finish one kernel or delivery of `activation`.

    After the last kernel or delivery, the run loop ends the activation.
    """
    # If the activation is shared, this is a read-modify-write: of two threads that finish the last
    # two, one sees 0 and also sees everything that the other has written.
    if load(activation + at.ACTIVATION_SHARED) == 0:
        left = load(activation + at.ACTIVATION_REMAINING) - 1
        store(activation + at.ACTIVATION_REMAINING, left)
    else:
        left = fetch_add(activation + at.ACTIVATION_REMAINING, -1) - 1
    if left == 0:
        push_ready(context, activation | at.READY_END, 0)


@inline
def release_users(context: Address, activation: Address, slot: Address) -> None:
    """Count an available value for each kernel that uses it; push the kernels that become ready."""
    # Plain loads suffice, because the decoder wrote the slot and it never changes. The ready counts
    # belong to the activation.
    users = load_i32(slot + at.SLOT_USERS)
    user = slot + at.SLOT_LISTS
    if load(activation + at.ACTIVATION_SHARED) != 0:
        release_users_shared(context, activation, user, users)
        return
    for _ in range(users):
        ready = activation + load_i32(user + 4)
        left = load(ready) - load_i32(user + 8)
        store(ready, left)
        if left == 0:
            push_ready(context, activation, user - load_i32(user))
        user += at.USER_SIZE


@outline
def release_users_shared(context: Address, activation: Address, user: Address, users: int) -> None:
    """Do the same as `release_users` while other threads also count down.

    A weight of 0 marks a non-strict kernel: the first value starts it.
    """
    for _ in range(users):
        ready = activation + load_i32(user + 4)
        weight = load_i32(user + 8)
        if weight == 0:
            # The count starts at 1: the first value sees 1, and later values see 0 or less.
            is_ready = fetch_add(ready, -1) == 1
        else:
            # The last value to arrive sees that only its own weight is left: no other thread will
            # count down again, so the acquire load suffices. With two steps (load, store), two
            # arrivals could miss each other.
            is_ready = load_acquire(ready) == weight or fetch_add(ready, -weight) == weight
        if is_ready:
            push_ready(context, activation, user - load_i32(user))
        user += at.USER_SIZE


@inline
def needs_reference(activation: Address, slot: Address) -> bool:
    """Tell whether all readers of a register may be gone before its value is available."""
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    return load_i32(slot + at.SLOT_USERS) == 0 or flags & at.FUNCTION_NONSTRICT != 0


@native
def watched_register_resolved(
    context: Address, activation: Address, slot: Address, value: Address
) -> None:
    """Do the same as `register_resolved`, even in a watched run."""
    if is_watched(activation):
        log_value(context, watch_of(activation), activation, slot, value)
    register_resolved(context, activation, slot, value)


@native
def register_resolved(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Release the users of a register whose value has become available."""
    if needs_reference(activation, slot):
        drop_reference(context, value)
    release_users(context, activation, slot)
    finish(context, activation)


@native
def publish(context: Address, value: Address, state: int) -> None:
    """Make `value` available in `state` and run its waiters.

    Its payload must already be stored.
    """
    run_waiters(context, take_waiters(value, state))


@native
def run_waiters(context: Address, waiters: Address) -> None:
    """Run a list of waiters.  Waiters that become due on this thread in the meantime join the list.

    Therefore, a chain of a million values that forward to each other takes only one level of the
    stack.
    """
    queue_waiters(context, waiters)
    # A caller further up this stack is running the list.
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
    """Put a list of waiters in front of the waiters that this thread is about to run."""
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
    # Other kinds of waiters need not write these two words.
    third = load(waiter + at.WAITER_THIRD) if kind == at.WAIT_TASK else 0
    run = load(waiter + at.WAITER_RUN) if kind == at.WAIT_TASK else 0
    # Free the cell before the action runs, so that the action may take it again.
    give_cell(context, waiter)
    if kind == at.WAIT_REGISTER:
        watched_register_resolved(context, first, second, value)
    elif kind == at.WAIT_FORWARD:
        # The indirect value may already be an error, without its target; see `handles.value_break`.
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
        # Write the word first: a thread that is woken before the word is 0 goes back to sleep, and
        # there is no other wake-up.
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
    """Count a block's resolved chain; the first error becomes the loop's error.

    This consumes a reference.
    """
    # The swap lets only one thread store its error; all others drop theirs.
    is_error = load_acquire(value + at.VALUE_STATE) & at.STATE_BITS == at.ERROR
    if not is_error or compare_and_swap(join + at.JOIN_ERROR, 0, value) == 0:
        drop_reference(context, value)
    leave_join(context, join, 1)


@native
def leave_join(context: Address, join: Address, parts: int) -> None:
    """Count finished parts of a parallel loop; after the last one, the run loop ends the join."""
    # This is a read-modify-write: of two threads that finish the last two parts, one sees that none
    # is left, and the other's writes happen before that.
    if fetch_add(join + at.JOIN_LEFT, -parts) == parts:
        push_ready(context, join | at.READY_JOIN, 0)


@native
def release_latch(context: Address, latch: Address) -> None:
    """Set the word of a latch to 0, because the value is resolved.

    A thread that is sleeping on the latch has an even activity epoch until it runs again.
    PROCESS_RESUMING counts it in between; otherwise, the queue would seem quiescent even though
    that thread will continue.
    """
    # The thread is counted before the exchange, and the count is undone if necessary: the word must
    # never be 0 while the thread is not counted.
    resuming = load(context + at.CONTEXT_PROCESS) + at.PROCESS_RESUMING
    fetch_add(resuming, 1)
    if exchange(latch + at.LATCH_PENDING, 0) != at.LATCH_ASLEEP:
        fetch_add(resuming, -1)


@entry
def drop_latch(context: Address, latch: Address) -> None:
    """Drop a latch on behalf of one of its two owners; the last one frees it."""
    if fetch_add(latch + at.LATCH_OWNERS, -1) == 1:
        give_block(context, latch, at.CELL_SIZE)
