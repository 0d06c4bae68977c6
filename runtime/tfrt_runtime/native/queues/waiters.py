"""Publish a value, run its waiters, and count down to the kernels that become ready.

An entry of a thread's ready stack has two words.  The low bits of the first word give the kind:
READY_KERNEL (activation, record), READY_ENTRIES (activation, list of records), READY_DELIVERY
(delivery, value), READY_END (activation), or READY_JOIN (join).

While only one thread uses an activation, the activation's counters are plain words.  That thread
calls `mark_shared` before another thread may use the activation.  From then on, every access to the
counters is atomic.

No function here recurses: if a waiter resolves other values, their waiters join the list that the
thread is already running.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    drop_reference,
    is_available,
    is_plain,
    point_at,
    take_waiters,
)
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
    store_release,
)
from tfrt_runtime.native.queues.tasks import add_local_task, new_task, wake_waiting

PUSHED_AT_ONCE = 32
"""How many entry kernels `push_entries` pushes, so that they are in the first-level cache."""


@inline
def push_ready(context: Address, activation: Address, record: Address) -> None:
    """Push an entry onto this thread's ready stack."""
    # Plain accesses suffice: only this thread uses its ready stack.
    top = load(context + at.CONTEXT_READY_TOP)
    if top == load(context + at.CONTEXT_READY_LIMIT):
        top = grow_ready(context)
    store(top, activation)
    store(top + 8, record)
    store(context + at.CONTEXT_READY_TOP, top + 16)


@native
def push_entries(context: Address, activation: Address, entries: Address) -> None:
    """Make the kernels of a list (FUNCTION_ENTRY_TABLE) ready, so that they run in order.

    If the list is long, one entry represents the rest of it until the kernels before have run.  A
    thousand entries would displace the kernels' values from the cache.
    """
    end = entries
    while load_i32(end) != 0 and end - entries < 4 * PUSHED_AT_ONCE:
        end += 4
    # The stack runs the newest entry first, so push the rest of the list before the kernels, and
    # the kernels in reverse order.
    if load_i32(end) != 0:
        push_ready(context, activation | at.READY_ENTRIES, end)
    for place in range(end - 4, entries - 4, -4):
        push_ready(context, activation, place + load_i32(place))


@outline
def grow_ready(context: Address) -> Address:
    """Double the size of this thread's ready stack; return the new top."""
    base = load(context + at.CONTEXT_READY)
    size = load(context + at.CONTEXT_READY_TOP) - base
    # Wait for memory if necessary: each ready kernel must be run or skipped, or its run never ends.
    larger = need_block(context, 2 * size)
    copy(larger, base, size)
    give_block(context, base, size)
    store(context + at.CONTEXT_READY, larger)
    store(context + at.CONTEXT_READY_LIMIT, larger + 2 * size)
    return larger + size


@native
def mark_shared(activation: Address) -> None:
    """Make the counters of an activation and its callers atomic.

    Call this before another thread may use the activation.
    """
    # Plain stores suffice: only this thread uses the activation so far, and handing it over
    # publishes the stores. The callers are marked, too, because a thread that ends this activation
    # also counts in its caller. A root has no caller, and a join's caller is already marked.
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
    """Add 1 to REMAINING, for a kernel or delivery that must finish before the activation ends."""
    if load(activation + at.ACTIVATION_SHARED) == 0:
        store(activation + at.ACTIVATION_REMAINING, load(activation + at.ACTIVATION_REMAINING) + 1)
    else:
        fetch_add(activation + at.ACTIVATION_REMAINING, 1)


@inline
def finish(context: Address, activation: Address) -> None:
    """Subtract 1 from REMAINING, for a kernel or delivery that has finished.

    After the last one, the end of the activation becomes ready.
    """
    # If the activation is shared, the decrement is atomic. Exactly one thread then gets 0, and sees
    # everything that the other threads have written.
    if load(activation + at.ACTIVATION_SHARED) == 0:
        left = load(activation + at.ACTIVATION_REMAINING) - 1
        store(activation + at.ACTIVATION_REMAINING, left)
    else:
        left = fetch_add(activation + at.ACTIVATION_REMAINING, -1) - 1
    if left == 0:
        push_ready(context, activation | at.READY_END, 0)


@inline
def release_users(context: Address, activation: Address, slot: Address) -> None:
    """Decrease the ready counts of the kernels that use a newly available plain value (`is_plain`).

    A kernel that awaits no other value becomes ready.
    """
    # Plain loads suffice: a slot never changes after it is decoded.
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
    """Release users as `release_users` does, for an activation that other threads also use.

    A user with weight 0 is a non-strict kernel, which becomes ready with its first value.
    """
    for _ in range(users):
        ready = activation + load_i32(user + 4)
        weight = load_i32(user + 8)
        if weight == 0:
            # The ready count starts at 1, so only the first value gets 1.
            is_ready = fetch_add(ready, -1) == 1
        else:
            # If only this value's weight is left, no other thread will count down, so a load
            # suffices. Otherwise, count down atomically, because two threads that load and then
            # store could miss each other.
            is_ready = load_acquire(ready) == weight or fetch_add(ready, -weight) == weight
        if is_ready:
            push_ready(context, activation, user - load_i32(user))
        user += at.USER_SIZE


@native
def release_available(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Release users as `release_users` does, for a value that may be an error or a forward.

    If the value is not plain, also set REQUEST_UNUSUAL.
    """
    unusual = load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_UNUSUAL
    # Set the word before releasing the users: while it is 0, ready kernels do not check their
    # arguments. Write it only once, because all threads read it.
    if not is_plain(value) and load_acquire(unusual) == 0:
        store_release(unusual, 1)
    release_users(context, activation, slot)


@inline
def needs_reference(activation: Address, slot: Address) -> bool:
    """Return whether a waiter for a register's value needs its own reference to the value.

    It does if all readers of the register may have dropped their references before the value is
    available.
    """
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    return load_i32(slot + at.SLOT_USERS) == 0 or flags & at.FUNCTION_NONSTRICT != 0


@native
def watched_register_resolved(
    context: Address, activation: Address, slot: Address, value: Address
) -> None:
    """Release users as `register_resolved` does; if the run is watched, also log the value."""
    if is_watched(activation):
        log_value(context, watch_of(activation), activation, slot, value)
    register_resolved(context, activation, slot, value)


@native
def register_resolved(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Release the users of a register whose value has become available."""
    if needs_reference(activation, slot):
        drop_reference(context, value)
    release_available(context, activation, slot, value)
    finish(context, activation)


@native
def publish(context: Address, value: Address, state: int) -> None:
    """Make `value` available in `state`, and run its waiters.

    The payload must already be stored.
    """
    run_waiters(context, take_waiters(value, state))


@native
def run_waiters(context: Address, waiters: Address) -> None:
    """Run a list of waiters on this thread, and all waiters that become due in the meantime.

    Waiters that become due join the list, so that even a chain of a million forwards needs only one
    level of the stack.
    """
    queue_waiters(context, waiters)
    # A caller on this stack is already running the list.
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
    """Put a list of waiters ahead of the waiters that this thread is about to run."""
    if waiters != 0:
        last = waiters
        while load(last + at.WAITER_NEXT) != 0:
            last = load(last + at.WAITER_NEXT)
        store(last + at.WAITER_NEXT, load(context + at.CONTEXT_WAITERS))
        store(context + at.CONTEXT_WAITERS, waiters)


@native
def run_waiter(context: Address, waiter: Address) -> None:
    """Free a waiter, and run its action."""
    kind = load(waiter + at.WAITER_KIND)
    first = load(waiter + at.WAITER_FIRST)
    second = load(waiter + at.WAITER_SECOND)
    value = load(waiter + at.WAITER_VALUE)
    # Only this kind of waiter uses these two words.
    third = load(waiter + at.WAITER_THIRD) if kind == at.WAIT_TASK else 0
    run = load(waiter + at.WAITER_RUN) if kind == at.WAIT_TASK else 0
    # Free the cell first, so that the action can reuse it.
    give_cell(context, waiter)
    if kind == at.WAIT_REGISTER:
        watched_register_resolved(context, first, second, value)
    elif kind == at.WAIT_FORWARD:
        # `handles.value_break` may already have made the indirect value an error.
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
        # Release before waking: a thread that is woken before the word is 0 would sleep again.
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

    Take over a reference to `value`.
    """
    # The swap lets only one thread store an error.
    is_error = load_acquire(value + at.VALUE_STATE) & at.STATE_BITS == at.ERROR
    if not is_error or compare_and_swap(join + at.JOIN_ERROR, 0, value) == 0:
        drop_reference(context, value)
    leave_join(context, join, 1)


@native
def leave_join(context: Address, join: Address, parts: int) -> None:
    """Count `parts` finished parts of a parallel loop.

    After the last part, the end of the join becomes ready.
    """
    # Exactly one thread gets the last count, and sees everything that the other threads have
    # written.
    if fetch_add(join + at.JOIN_LEFT, -parts) == parts:
        push_ready(context, join | at.READY_JOIN, 0)


@native
def release_latch(context: Address, latch: Address) -> None:
    """Set a latch's word to 0, because its value is resolved.

    A thread that sleeps on the latch has an even activity epoch until it runs again.  Until then,
    PROCESS_RESUMING counts the thread, because the queue would otherwise seem to have no work left.
    """
    # Count before the exchange, because the word must not be 0 while the thread is not counted.
    # Undo the count if no thread sleeps on the latch.
    resuming = load(context + at.CONTEXT_PROCESS) + at.PROCESS_RESUMING
    fetch_add(resuming, 1)
    if exchange(latch + at.LATCH_PENDING, 0) != at.LATCH_ASLEEP:
        fetch_add(resuming, -1)


@entry
def drop_latch(context: Address, latch: Address) -> None:
    """Drop a latch for one of its two owners; the last owner frees the latch."""
    if fetch_add(latch + at.LATCH_OWNERS, -1) == 1:
        give_block(context, latch, at.CELL_SIZE)
