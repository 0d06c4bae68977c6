"""AsyncValue: reference counts, the single transition to available, and the list of waiters.

A value starts unavailable, becomes CONCRETE or ERROR, and never changes again.  The state and the
head of the waiter list share one word.  Therefore, one `exchange` both publishes a value and takes
its waiters, and one `compare_and_swap` adds a waiter.  Every waiter runs exactly once, and no lock
is needed.

    STATE = newest waiter | state            (waiters are 16-aligned: the low bits are free)

    UNCONSTRUCTED --claim--> CONSTRUCTED --take_waiters--> CONCRETE or ERROR, no waiters, for good
          |  add_waiter          |  add_waiter                  ^
          +----------------------+------------------------------+

An indirect value is a placeholder that forwards to another value, its target.

Ownership: the code that makes a value owns one reference to that value.  A waiter owns no reference
to its value, because the publisher removes the waiters before it drops its own reference.

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
    # Plain stores suffice: no other thread knows about the value until an atomic operation
    # publishes its address.
    value = take_cell(context)
    store(value + at.VALUE_REFERENCES, 1)
    store(value + at.VALUE_STATE, at.UNCONSTRUCTED)
    store(value + at.VALUE_KIND, payload_type << 8 | at.KIND_CONCRETE)
    store(value + at.VALUE_PAYLOAD, 0)
    store(value + at.VALUE_PAYLOAD2, 0)
    store(value + at.VALUE_OWNER, 0)
    # Each thread counts its own values, because threads would contend for a shared counter.
    store(context + at.CONTEXT_MADE, load(context + at.CONTEXT_MADE) + 1)
    return value


@inline
def new_available(context: Address, payload_type: int) -> Address:
    """Make an available value with one reference.

    The caller must write the payload before it shares the value.
    """
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
    """Return the value's current state.

    If the result is CONCRETE or ERROR, everything the publisher wrote before publishing is visible.
    """
    return load_acquire(value + at.VALUE_STATE) & at.STATE_BITS


@inline
def is_available(value: Address) -> bool:
    """Return whether the value is CONCRETE or ERROR."""
    return load_acquire(value + at.VALUE_STATE) & at.STATE_BITS >= at.CONCRETE


@inline
def is_plain(value: Address) -> bool:
    """Return whether a value is CONCRETE and does not forward to another value."""
    is_concrete = load_acquire(value + at.VALUE_STATE) == at.CONCRETE
    return is_concrete and load(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_CONCRETE


@native
def is_indirect(value: Address) -> bool:
    """Return whether the value is a placeholder for another value.

    Calling this is safe while another thread resolves `value`.
    """
    return load_acquire(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_INDIRECT


@native
def resolve(value: Address) -> Address:
    """Follow an available value's forwards; return the concrete or error value at the end."""
    # Plain loads suffice: the publisher wrote kind and target before the state, the caller has read
    # the state with acquire, and an available value does not change.
    while load(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_INDIRECT:
        value = load(value + at.VALUE_TARGET)
    return value


@inline
def add_references(value: Address, count: int) -> None:
    """Add `count` references to a value; the caller must already hold one."""
    # All threads use the immortal constants. Reading a constant's count leaves its cache line
    # shared, but writing the count would move the line from core to core.
    if load_acquire(value + at.VALUE_REFERENCES) < at.IMMORTAL:
        fetch_add(value + at.VALUE_REFERENCES, count)


@inline
def multiply_reference(value: Address, count: int) -> None:
    """Add `count` references to a value; the caller must already hold one.

    No other thread may use the caller's reference during this call.
    """
    references = load_acquire(value + at.VALUE_REFERENCES)
    # If this is the only reference, no other thread can change the count.
    if references == 1:
        store(value + at.VALUE_REFERENCES, 1 + count)
    elif references < at.IMMORTAL:
        fetch_add(value + at.VALUE_REFERENCES, count)


@inline
def drop_reference(context: Address, value: Address) -> None:
    """Drop one reference; destroy the value if this was the last one.

    Destroying an indirect value also drops its reference to its target.
    """
    # The acquire pairs with the `fetch_add` in threads that dropped their references earlier: those
    # threads must be done with the payload before this thread releases it.
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
    """Destroy an unreferenced value, and each target that thereby loses its last reference."""
    # Loop instead of recursing: a chain of forwards may have a million values, and the native stack
    # must not grow.
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
    """Destroy one value: release its payload and free its memory.

    Return the target if the value is indirect, otherwise 0.  The caller must drop the value's
    reference to the target.
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
    """Return the size in bytes of a compiled program's object, without its header."""
    return (load(value + at.VALUE_ASYNC) & at.OBJECT_SIZE_BITS) >> 2


@native
def release_payload(context: Address, payload_type: int, payload: int) -> None:
    """Drop the reference that a payload holds; its type must satisfy `is_object`."""
    process = load(context + at.CONTEXT_PROCESS)
    if payload_type == at.TYPE_TENSOR or payload_type == at.TYPE_SHAPE:
        call2(load(process + at.PROCESS_RELEASE_TENSOR), context, payload)
    else:
        call2(load(process + at.PROCESS_RELEASE_OBJECT), context, payload)


@inline
def is_object(payload_type: int) -> bool:
    """Return whether payloads of this type hold a reference that must be dropped."""
    return payload_type >= at.TYPE_OBJECT and payload_type < at.TYPE_STORAGE


@native
def new_waiter(context: Address, kind: int, first: int, second: int) -> Address:
    """Make a waiter: the action `kind` (a `WAIT_*` constant) and its two operands."""
    waiter = take_cell(context)
    store(waiter + at.WAITER_KIND, kind)
    store(waiter + at.WAITER_FIRST, first)
    store(waiter + at.WAITER_SECOND, second)
    return waiter


@native
def wait_for(context: Address, value: Address, kind: int, first: int, second: int) -> bool:
    """Make a waiter and add it to an unavailable value.

    Return False, and add no waiter, if the value is already available.
    """
    waiter = new_waiter(context, kind, first, second)
    if add_waiter(value, waiter):
        return True
    give_cell(context, waiter)
    return False


@native
def add_waiter(value: Address, waiter: Address) -> bool:
    """Add `waiter` to an unavailable value.

    Return False if the value is already available.  In this case, the caller still owns `waiter`.
    """
    store(waiter + at.WAITER_VALUE, value)
    while True:
        # Acquire: if this returns False, the caller reads the payload, which the publisher wrote
        # before the state.
        head = load_acquire(value + at.VALUE_STATE)
        if head & at.STATE_BITS >= at.CONCRETE:
            return False
        # A plain store suffices: no other thread knows about the waiter until the swap.
        store(waiter + at.WAITER_NEXT, head & ~at.STATE_BITS)
        # The swap publishes the waiter's fields and leaves the state bits unchanged.
        if compare_and_swap(value + at.VALUE_STATE, head, waiter | (head & at.STATE_BITS)) != 0:
            return True


@native
def claim(value: Address) -> bool:
    """Claim the right to resolve an unconstructed value.

    Return False if a thread has already claimed it.
    """
    # Retry if the swap fails: another thread may have added a waiter without claiming the value.
    while True:
        head = load_acquire(value + at.VALUE_STATE)
        if head & at.STATE_BITS != at.UNCONSTRUCTED:
            return False
        if compare_and_swap(value + at.VALUE_STATE, head, head | at.CONSTRUCTED) != 0:
            return True


@native
def take_waiters(value: Address, state: int) -> Address:
    """Make the value available in `state`, and return the list of waiters, newest first.

    The caller must already have written the payload, which the `exchange` publishes.
    """
    # The load and the store must be one atomic step: a waiter added between them would never run.
    return exchange(value + at.VALUE_STATE, state) & ~at.STATE_BITS


@native
def point_at(context: Address, indirect: Address, target: Address) -> Address:
    """Resolve an indirect value to an available target; return the indirect value's waiters.

    Take over the caller's reference to `target`.  If `target` itself forwards to another value, the
    indirect value refers directly to the concrete value at the end of the chain, so that chains do
    not grow.
    """
    concrete = resolve(target)
    if load_acquire(concrete + at.VALUE_REFERENCES) >= at.IMMORTAL or is_copied(indirect, concrete):
        return become_copy(context, indirect, target, concrete)
    if is_moved(indirect, target):
        return become_owner(context, indirect, target)
    if concrete != target:
        # Add before dropping: until `indirect` has its own reference to `concrete`, only
        # `target` keeps `concrete` alive.
        add_references(concrete, 1)
        drop_reference(context, target)
    store(indirect + at.VALUE_TARGET, concrete)
    kind = load(concrete + at.VALUE_KIND) & ~at.KIND_BITS | at.KIND_INDIRECT
    # Atomic, because `is_indirect` on another thread may read the kind before the value is
    # resolved.
    store_release(indirect + at.VALUE_KIND, kind)
    return take_waiters(indirect, load_acquire(concrete + at.VALUE_STATE) & at.STATE_BITS)


@native
def is_copied(indirect: Address, concrete: Address) -> bool:
    """Return whether `indirect` must become a copy of the available value `concrete`.

    A run's results copy plain values, such as numbers, instead of referring to them.
    """
    if load(indirect + at.VALUE_PAYLOAD) != at.INDIRECT_COPIES:
        return False
    is_plain = load(concrete + at.VALUE_KIND) < at.TYPE_ATOMIC_I32 << 8
    return is_plain and load_acquire(concrete + at.VALUE_STATE) & at.STATE_BITS == at.CONCRETE


@native
def become_copy(context: Address, indirect: Address, target: Address, source: Address) -> Address:
    """Resolve an indirect value to a copy of `source`; return the indirect value's waiters.

    `source`, a constant or a number, is `target` or the value to which `target` forwards.  Take
    over the caller's reference to `target`.  The copy may outlive the program, which owns its
    constants.
    """
    kind = load(source + at.VALUE_KIND)
    # Copy only the words that the source's type uses. The other words are uninitialized, and the
    # simulator reports reads of uninitialized words.
    if kind >> 8 != at.TYPE_CHAIN:
        store(indirect + at.VALUE_PAYLOAD, load(source + at.VALUE_PAYLOAD))
    if kind >> 8 >= at.TYPE_COMPLEX64:
        store(indirect + at.VALUE_PAYLOAD2, load(source + at.VALUE_PAYLOAD2))
    store_release(indirect + at.VALUE_KIND, kind)
    drop_reference(context, target)
    return take_waiters(indirect, at.CONCRETE)


@native
def is_moved(indirect: Address, target: Address) -> bool:
    """Return whether `indirect` should take over the payload of the available value `target`.

    The answer is True if `indirect` is a result of a run, `target` holds an object, and the caller
    has the only reference to `target`.
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
    """Resolve an indirect value by moving the payload out of `target`; return its waiters.

    Take over the caller's reference to `target`.
    """
    kind = load(target + at.VALUE_KIND)
    store(indirect + at.VALUE_PAYLOAD, load(target + at.VALUE_PAYLOAD))
    store_release(indirect + at.VALUE_KIND, kind)
    # Without an object type, `target` no longer owns the payload: dropping `target` frees only its
    # cell.
    store(target + at.VALUE_KIND, at.KIND_CONCRETE)
    drop_reference(context, target)
    return take_waiters(indirect, at.CONCRETE)


@native
def forward_to(context: Address, indirect: Address, target: Address) -> Address:
    """Resolve `indirect` to `target` now or when `target` becomes available.

    Take over the caller's reference to `target`.  Call this at most once per indirect value.  If
    `indirect` is already an error, it remains that error.

    Return the waiters of `indirect` that the caller must run now, or 0.
    """
    if is_available(indirect):
        drop_reference(context, target)
        return 0
    if not is_available(target):
        # The waiter needs a reference to `indirect`: the caller may drop its own before `target` is
        # resolved.
        add_references(indirect, 1)
        # If a run gets stuck, Python reads this word to find the value that `indirect` waits for.
        store(indirect + at.VALUE_TARGET, target)
        if wait_for(context, target, at.WAIT_FORWARD, indirect, target):
            return 0
        drop_reference(context, indirect)
    return point_at(context, indirect, target)


@native
def set_error(value: Address, payload: int, error_type: int) -> Address:
    """Resolve an unconstructed concrete value to an error, and return its waiters.

    `payload` is the handle of a Diagnostic.  The value takes over the caller's reference to the
    Diagnostic.
    """
    # Store the state last: a thread that sees ERROR may read the diagnostic immediately.
    store(value + at.VALUE_PAYLOAD, payload)
    store_release(value + at.VALUE_KIND, error_type << 8 | at.KIND_CONCRETE)
    return take_waiters(value, at.ERROR)
