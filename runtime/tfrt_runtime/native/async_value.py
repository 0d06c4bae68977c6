"""AsyncValue: reference counts, the single transition to available, and the list of waiters.

A value leaves the unavailable states only once, and becomes CONCRETE or ERROR.  The state and the
head of the waiter list share one word.  Therefore, one `exchange` publishes a value and takes its
waiters, and one `compare_and_swap` adds a waiter: without a lock, no waiter is lost and none runs
twice.

    STATE = newest waiter | state            (waiters are 16-aligned: the low bits are free)

    UNCONSTRUCTED --claim--> CONSTRUCTED --take_waiters--> CONCRETE or ERROR, no waiters, for good
          |  add_waiter          |  add_waiter                  ^
          +----------------------+------------------------------+

Ownership: the code that makes a value holds one reference.  A waiter holds none, because publishing
removes the waiters before the publisher drops its own reference.

The states, and the packing of state and waiters into one word, follow TFRT:
https://github.com/tensorflow/runtime/blob/master/include/tfrt/host_context/async_value.h
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import give_block, give_cell, take_cell
from tfrt_runtime.native.memory import (
    Address,
    call2,
    compare_and_swap,
    exchange,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    outline,
    store,
    store_i32,
    store_release,
)


@native
def new_value(context: Address, payload_type: int) -> Address:
    """Make an unconstructed concrete value with one reference."""
    # Plain stores suffice: the value is private until its address is published, by an atomic
    # operation or in a word of an activation that only one thread uses.
    value = take_cell(context)
    store(value + at.VALUE_REFERENCES, 1)
    store(value + at.VALUE_STATE, at.UNCONSTRUCTED)
    store(value + at.VALUE_KIND, payload_type << 8 | at.KIND_CONCRETE)
    store(value + at.VALUE_PAYLOAD, 0)
    store(value + at.VALUE_PAYLOAD2, 0)
    store(value + at.VALUE_OWNER, 0)
    # Values are counted per thread: a counter for the process would be the most contended word of
    # every program.
    store(context + at.CONTEXT_MADE, load(context + at.CONTEXT_MADE) + 1)
    return value


@inline
def new_available(context: Address, payload_type: int) -> Address:
    """Make an available value that only the caller refers to; the caller fills in the payload."""
    value = take_cell(context)
    store(value + at.VALUE_REFERENCES, 1)
    store(value + at.VALUE_STATE, at.CONCRETE)
    store(value + at.VALUE_KIND, payload_type << 8 | at.KIND_CONCRETE)
    store(value + at.VALUE_OWNER, 0)
    store(context + at.CONTEXT_MADE, load(context + at.CONTEXT_MADE) + 1)
    return value


@inline
def new_scalar(context: Address, payload_type: int, word: int) -> Address:
    """Make an available scalar with one reference."""
    value = new_available(context, payload_type)
    if payload_type == at.TYPE_I32 or payload_type == at.TYPE_F32:
        store(value + at.VALUE_PAYLOAD, 0)
        store_i32(value + at.VALUE_PAYLOAD, word)
    else:
        store(value + at.VALUE_PAYLOAD, word)
    return value


@native
def new_indirect(context: Address) -> Address:
    """Make an unconstructed indirect value with one reference; `forward_to` sets its target."""
    value = new_value(context, 0)
    store(value + at.VALUE_KIND, at.KIND_INDIRECT)
    return value


@native
def state_of(value: Address) -> int:
    """Return the current state.

    Once it is CONCRETE or ERROR, the publisher's earlier writes are visible.
    """
    return load_acquire(value + at.VALUE_STATE) & at.STATE_BITS


@inline
def is_available(value: Address) -> bool:
    """Tell whether the value is CONCRETE or ERROR."""
    return load_acquire(value + at.VALUE_STATE) & at.STATE_BITS >= at.CONCRETE


@native
def is_indirect(value: Address) -> bool:
    """Tell whether the value is a placeholder for another one.

    Other threads may be resolving it.
    """
    return load_acquire(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_INDIRECT


@native
def resolve(value: Address) -> Address:
    """Return the concrete or error value that an available value is or forwards to."""
    # Plain loads suffice: kind and target were written before the state, which the caller has read
    # with acquire, and never change again.
    while load(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_INDIRECT:
        value = load(value + at.VALUE_TARGET)
    return value


@inline
def add_references(value: Address, count: int) -> None:
    """Add `count` references.  The caller already holds one, so no ordering is needed."""
    # Constants are immortal, and all threads use them: reading a constant's count leaves its cache
    # line shared, but changing the count would move the line from core to core.
    if load_acquire(value + at.VALUE_REFERENCES) < at.IMMORTAL:
        fetch_add(value + at.VALUE_REFERENCES, count)


@inline
def multiply_reference(value: Address, count: int) -> None:
    """Add `count` references on behalf of an owner whose reference no other code uses in the
    meantime.
    """
    references = load_acquire(value + at.VALUE_REFERENCES)
    # If this is the only reference, no other thread can change the count.
    if references == 1:
        store(value + at.VALUE_REFERENCES, 1 + count)
    elif references < at.IMMORTAL:
        fetch_add(value + at.VALUE_REFERENCES, count)


@inline
def drop_reference(context: Address, value: Address) -> None:
    """Drop one reference.

    Dropping the last reference destroys the value and drops the value's reference to its target.
    """
    # The acquire pairs with the `fetch_add` of threads that dropped their references earlier. Their
    # accesses to the payload happen before the payload is released here.
    references = load_acquire(value + at.VALUE_REFERENCES)
    if references >= at.IMMORTAL:
        return
    # A sole owner needs no read-modify-write: no other thread can hold or add a reference.
    if references != 1 and fetch_add(value + at.VALUE_REFERENCES, -1) != 1:
        return
    kind = load(value + at.VALUE_KIND)
    if kind >= at.TYPE_OBJECT << 8 or kind & at.KIND_BITS == at.KIND_INDIRECT:
        destroy_chain(context, value)
    else:
        store(context + at.CONTEXT_DROPPED, load(context + at.CONTEXT_DROPPED) + 1)
        give_cell(context, value)


@native
def drop_optional(context: Address, value: Address) -> None:
    """Drop one reference, unless `value` is 0."""
    if value != 0:
        drop_reference(context, value)


@outline
def destroy_chain(context: Address, value: Address) -> None:
    """Destroy a value that has no references.

    Also destroy its target if this was the target's last reference.
    """
    # Use a loop instead of recursion, because a million values may forward to each other in a
    # chain.
    while value != 0:
        value = destroy(context, value)
        if value != 0:
            references = load_acquire(value + at.VALUE_REFERENCES)
            if references >= at.IMMORTAL:
                return
            if references != 1 and fetch_add(value + at.VALUE_REFERENCES, -1) != 1:
                return


@native
def destroy(context: Address, value: Address) -> Address:
    """Release the payload and the cell.

    Returns the target of an indirect value, which the caller must drop next.
    """
    kind = load(value + at.VALUE_KIND)
    target = 0
    # The payload of an unconstructed value owns nothing.
    if kind & at.KIND_BITS == at.KIND_INDIRECT:
        target = load(value + at.VALUE_TARGET)
    elif is_object(kind >> 8) and load(value + at.VALUE_STATE) & at.STATE_BITS != at.UNCONSTRUCTED:
        release_payload(context, kind >> 8, load(value + at.VALUE_PAYLOAD))
    store(context + at.CONTEXT_DROPPED, load(context + at.CONTEXT_DROPPED) + 1)
    if kind >> 8 >= at.TYPE_STORAGE:
        give_block(context, value, at.VALUE_STORAGE + storage_size(value))
    else:
        give_cell(context, value)
    return target


@inline
def storage_size(value: Address) -> int:
    """Return the size, in bytes, of the storage after the header of a compiled program's object."""
    return (load(value + at.VALUE_ASYNC) & at.OBJECT_SIZE_BITS) >> 2


@native
def release_payload(context: Address, payload_type: int, payload: int) -> None:
    """Drop the reference that a payload holds."""
    process = load(context + at.CONTEXT_PROCESS)
    if payload_type == at.TYPE_TENSOR or payload_type == at.TYPE_SHAPE:
        call2(load(process + at.PROCESS_RELEASE_TENSOR), context, payload)
    else:
        call2(load(process + at.PROCESS_RELEASE_OBJECT), context, payload)


@inline
def is_object(payload_type: int) -> bool:
    """Tell whether the payload refers to something that must be released."""
    return payload_type >= at.TYPE_OBJECT and payload_type < at.TYPE_STORAGE


@native
def new_waiter(context: Address, kind: int, first: int, second: int) -> Address:
    """Make a waiter that applies the action `kind` to `first` and `second`."""
    waiter = take_cell(context)
    store(waiter + at.WAITER_KIND, kind)
    store(waiter + at.WAITER_FIRST, first)
    store(waiter + at.WAITER_SECOND, second)
    return waiter


@native
def wait_for(context: Address, value: Address, kind: int, first: int, second: int) -> bool:
    """Add a new waiter to an unavailable value.

    If the value is already available, add no waiter and return False.
    """
    waiter = new_waiter(context, kind, first, second)
    if add_waiter(value, waiter):
        return True
    give_cell(context, waiter)
    return False


@native
def add_waiter(value: Address, waiter: Address) -> bool:
    """Add `waiter` to an unavailable value; return False if the value is already available.

    If this returns False, the waiter still belongs to the caller.
    """
    store(waiter + at.WAITER_VALUE, value)
    while True:
        # Acquire: if this returns False, the caller reads the payload, which was written before the
        # state.
        head = load_acquire(value + at.VALUE_STATE)
        if head & at.STATE_BITS >= at.CONCRETE:
            return False
        # A plain store suffices, because the waiter is private until the swap.
        store(waiter + at.WAITER_NEXT, head & ~at.STATE_BITS)
        # The swap publishes the waiter's fields, and preserves the difference between CONSTRUCTED
        # and UNCONSTRUCTED.
        if compare_and_swap(value + at.VALUE_STATE, head, waiter | (head & at.STATE_BITS)) != 0:
            return True


@native
def claim(value: Address) -> bool:
    """Claim the right to resolve an unconstructed value.

    Returns False if a thread has already claimed it.
    """
    # This is a loop because the head also changes when another thread adds a waiter, in which case
    # the claim is still free.
    while True:
        head = load_acquire(value + at.VALUE_STATE)
        if head & at.STATE_BITS != at.UNCONSTRUCTED:
            return False
        if compare_and_swap(value + at.VALUE_STATE, head, head | at.CONSTRUCTED) != 0:
            return True


@native
def take_waiters(value: Address, state: int) -> Address:
    """Make the value available in `state`; return the list of waiters, newest first.

    The caller must already have written the payload, which the `exchange` publishes.
    """
    # This must be one atomic step: a waiter pushed between a load and a store would never run.
    return exchange(value + at.VALUE_STATE, state) & ~at.STATE_BITS


@native
def point_at(context: Address, indirect: Address, target: Address) -> Address:
    """Publish an indirect value whose target is available; return its waiters.

    Consumes the caller's reference to `target`.  If the target is itself indirect, one level is
    collapsed, so that chains of forwards do not grow.
    """
    concrete = resolve(target)
    if load_acquire(concrete + at.VALUE_REFERENCES) >= at.IMMORTAL or is_copied(indirect, concrete):
        return become_copy(context, indirect, target, concrete)
    if is_moved(indirect, target):
        return become_owner(context, indirect, target)
    if concrete != target:
        # The order matters: the reference that `target` holds keeps `concrete` alive until we hold
        # our own.
        add_references(concrete, 1)
        drop_reference(context, target)
    store(indirect + at.VALUE_TARGET, concrete)
    kind = load(concrete + at.VALUE_KIND) & ~at.KIND_BITS | at.KIND_INDIRECT
    # This store is atomic because `is_indirect` may read the kind of a value that is not resolved
    # yet.
    store_release(indirect + at.VALUE_KIND, kind)
    return take_waiters(indirect, load_acquire(concrete + at.VALUE_STATE) & at.STATE_BITS)


@native
def is_copied(indirect: Address, concrete: Address) -> bool:
    """Tell whether an unresolved indirect value becomes a copy of an available one.

    This applies to results of runs.
    """
    if load(indirect + at.VALUE_PAYLOAD) != at.INDIRECT_COPIES:
        return False
    is_plain = load(concrete + at.VALUE_KIND) < at.TYPE_ATOMIC_I32 << 8
    return is_plain and load_acquire(concrete + at.VALUE_STATE) & at.STATE_BITS == at.CONCRETE


@native
def become_copy(context: Address, indirect: Address, target: Address, source: Address) -> Address:
    """Publish an indirect value as a copy of a constant or a number.

    A copy of a constant may outlive the program that owns the constant; a copy of a number makes
    the second value unnecessary.
    """
    kind = load(source + at.VALUE_KIND)
    # Copy only the words that the source's type uses: the other words are unwritten, and reading
    # them is an error in the simulator.
    if kind >> 8 != at.TYPE_CHAIN:
        store(indirect + at.VALUE_PAYLOAD, load(source + at.VALUE_PAYLOAD))
    if kind >> 8 >= at.TYPE_COMPLEX64:
        store(indirect + at.VALUE_PAYLOAD2, load(source + at.VALUE_PAYLOAD2))
    store_release(indirect + at.VALUE_KIND, kind)
    drop_reference(context, target)
    return take_waiters(indirect, at.CONCRETE)


@native
def is_moved(indirect: Address, target: Address) -> bool:
    """Tell whether an unresolved result of a run takes over the payload of an available value.

    This is the case if no other code refers to the available value.
    """
    if load(indirect + at.VALUE_PAYLOAD) != at.INDIRECT_COPIES:
        return False
    # The caller holds the only reference, so no other thread can add one.
    is_alone = load_acquire(target + at.VALUE_REFERENCES) == 1
    is_concrete = load_acquire(target + at.VALUE_STATE) & at.STATE_BITS == at.CONCRETE
    kind = load(target + at.VALUE_KIND)
    return (
        is_alone
        and is_concrete
        and kind & at.KIND_BITS == at.KIND_CONCRETE
        and is_object(kind >> 8)
    )


@native
def become_owner(context: Address, indirect: Address, target: Address) -> Address:
    """Publish an indirect value with the payload moved from `target`.

    The second value is then no longer needed for the payload.
    """
    kind = load(target + at.VALUE_KIND)
    store(indirect + at.VALUE_PAYLOAD, load(target + at.VALUE_PAYLOAD))
    store_release(indirect + at.VALUE_KIND, kind)
    # `target` no longer owns the payload: because its type is no longer an object type, dropping it
    # releases only its cell.
    store(target + at.VALUE_KIND, at.KIND_CONCRETE)
    drop_reference(context, target)
    return take_waiters(indirect, at.CONCRETE)


@native
def forward_to(context: Address, indirect: Address, target: Address) -> Address:
    """Make `indirect` become what `target` is or will be; return the waiters that must run now.

    Consumes the caller's reference to `target`.  It may be called only once per indirect value.  If
    `indirect` has become an error in the meantime, because it could not be resolved, it keeps that
    error.
    """
    if is_available(indirect):
        drop_reference(context, target)
        return 0
    if not is_available(target):
        # The waiter gets its own reference, because the caller may drop its reference before the
        # target is resolved.
        add_references(indirect, 1)
        # If a run gets stuck, Python follows this word to the value that `indirect` waits for.
        store(indirect + at.VALUE_TARGET, target)
        if wait_for(context, target, at.WAIT_FORWARD, indirect, target):
            return 0
        drop_reference(context, indirect)
    return point_at(context, indirect, target)


@native
def set_error(value: Address, payload: int, error_type: int) -> Address:
    """Resolve an unconstructed concrete value to an error; return its waiters.

    `payload` is the handle of a Diagnostic; the value takes ownership of its reference.
    """
    # The state is written last, because a thread that sees ERROR may read the diagnostic.
    store(value + at.VALUE_PAYLOAD, payload)
    store_release(value + at.VALUE_KIND, error_type << 8 | at.KIND_CONCRETE)
    return take_waiters(value, at.ERROR)
