"""This thread's stack of ready kernels, and the counters that lead to it.

An entry of the ready stack is a pair of words.  The low bits of the first word tell its kind:
READY_KERNEL (activation, record), READY_DELIVERY (delivery, value), READY_END (activation),
READY_JOIN (join).

While only one thread refers to an activation, its counters are plain words.  Before another thread
can reach the activation, that thread calls `mark_shared`; from then on the counters are atomic.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference
from tfrt_runtime.native.cells import give_block, need_block
from tfrt_runtime.native.events import is_watched, log_value, watch_of
from tfrt_runtime.native.memory import (
    Address,
    copy,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    outline,
    store,
)


@inline
def push_ready(context: Address, activation: Address, record: Address) -> None:
    """Push a kernel onto this thread's stack of ready kernels."""
    # Only this thread touches its stack; work for other threads becomes a task (`sharing`).
    top = load(context + at.CONTEXT_READY_TOP)
    if top == load(context + at.CONTEXT_READY_LIMIT):
        top = grow_ready(context)
    store(top, activation)
    store(top + 8, record)
    store(context + at.CONTEXT_READY_TOP, top + 16)


@outline
def grow_ready(context: Address) -> Address:
    """Double the stack of ready kernels; return the new top."""
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
    # Plain stores: the calling thread is still the only one, and the waiter or task that hands the
    # activation over publishes them.  Callers too: the other thread may be the one to end this
    # activation, and then it counts in the caller.  A root has no caller, and a join's caller is
    # shared earlier.
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
    """Finish one kernel or delivery of `activation`; after the last one the run loop ends it."""
    # Shared: a read-modify-write, so that of two threads that finish the last two, one sees 0 and
    # also sees what the other has written.
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
    # The slot belongs to the decoder and never changes: plain loads.  The ready counts belong to
    # the activation.
    users = load(slot + at.SLOT_USERS)
    user = slot + at.SLOT_LISTS
    if load(activation + at.ACTIVATION_SHARED) != 0:
        release_users_shared(context, activation, user, users)
        return
    for _ in range(users):
        ready = activation + load(user + 8)
        left = load(ready) - load(user + 16)
        store(ready, left)
        if left == 0:
            push_ready(context, activation, load(user))
        user += at.USER_SIZE


@outline
def release_users_shared(context: Address, activation: Address, user: Address, users: int) -> None:
    """Release users like `release_users`, while other threads count down as well.

    A weight of 0 marks a non-strict kernel: the first value starts it.
    """
    for _ in range(users):
        ready = activation + load(user + 8)
        weight = load(user + 16)
        if weight == 0:
            # The count starts at 1: the first value sees that, later values see 0 or less.
            is_ready = fetch_add(ready, -1) == 1
        else:
            # The last value to arrive sees that only its own weight is left: no other thread will #
            # count down again, so the acquire load suffices.  In two steps (load, store),
            # two arrivals could miss each other.
            is_ready = load_acquire(ready) == weight or fetch_add(ready, -weight) == weight
        if is_ready:
            push_ready(context, activation, load(user))
        user += at.USER_SIZE


@inline
def needs_reference(activation: Address, slot: Address) -> bool:
    """Tell whether the readers of a register may all be gone before its value is available."""
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    return load(slot + at.SLOT_USERS) == 0 or flags & at.FUNCTION_NONSTRICT != 0


@native
def watched_register_resolved(
    context: Address, activation: Address, slot: Address, value: Address
) -> None:
    """Handle a resolved register like `register_resolved`, even in a watched run."""
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
