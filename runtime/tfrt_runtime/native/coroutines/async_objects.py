"""Async objects: the tokens, values, and groups that compiled programs use.

An object is an AsyncValue whose references the compiler counts.  A token's type is `chain`.  A
value with up to one word of payload stores the payload in its header, where Python and host
programs can read it.  A longer payload follows the header and is aligned to 16 bytes.  Tokens and
values are made with two references: one for the caller and one for the producer.  The producer's
reference is dropped when the object is resolved.  A failed object forwards to an error value.  All
objects that fail for the same reason share one error value.

    create (`async_abi`)            UNCONSTRUCTED, 2 references; coroutines and groups add waiters
         |
         |  producer:  emplace           payload stored --> CONCRETE                - 1 reference
         |             note_failure, then set_object_error --> ERROR                - 1 reference
         |  runtime:   async_abandon     a cancelled or stuck run --> ERROR, flag OBJECT_ABANDONED;
         |                               the producer's later call only drops its reference
         v
    waiters run                     coroutines become tasks, groups count, host values resolve
         |
    last drop_references            the cell is free; a registered object waits for `async_sweep`

A group is resolved when the number of its resolved members reaches its size.  A group keeps the
first error among its members and ignores the others.  It is destroyed when it has no references and
all members that were added to it are resolved.

Groups are registered: a list of objects holds a reference to each, so that the objects can be
inspected.  In a checked runtime, tokens and values are registered, too.  If the program drops the
list's reference, the program has dropped one reference too many.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    claim,
    destroy_chain,
    drop_optional,
    drop_reference,
    is_available,
    new_value,
    resolve,
    state_of,
)
from tfrt_runtime.native.cells import give_cell, need_block
from tfrt_runtime.native.events import log_code, write_code
from tfrt_runtime.native.memory import (
    Address,
    call3,
    compare_and_swap,
    entry,
    exchange,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    push,
    store,
    store_release,
    take_all,
)
from tfrt_runtime.native.queues.waiters import publish, run_waiters

FIRST_LIMIT = 1024
WORD = 8


@native
def report_event(context: Address, event: int, argument: Address) -> int:
    """Report an `EVENT_*` to Python; return Python's answer."""
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_ASYNC_EVENT)
    return call3(callback, context, event, argument)


@inline
def new_object(context: Address, payload_type: int) -> Address:
    """Make an unresolved object that consists of a header only, with two references."""
    made = new_value(context, payload_type)
    store(made + at.VALUE_REFERENCES, 2)
    store(made + at.VALUE_ASYNC, 0)
    register_checked(context, made)
    return made


@native
def new_token(context: Address) -> Address:
    """Make an unresolved token with two references."""
    return new_object(context, at.TYPE_CHAIN)


@native
def new_future(context: Address, size: int) -> Address:
    """Make an unresolved value with two references and storage for `size` bytes."""
    if size <= WORD:
        return new_object(context, at.TYPE_UNKNOWN)
    made = new_large(context, at.TYPE_STORAGE, size)
    store(made + at.VALUE_REFERENCES, 2)
    # `emplace_stored` checks these words.
    store(made + at.VALUE_STORAGE, 0)
    store(made + at.VALUE_STORAGE + WORD, 0)
    register_checked(context, made)
    return made


@native
def new_large(context: Address, payload_type: int, size: int) -> Address:
    """Make an unresolved object with one reference and `size` bytes after the header."""
    made = need_block(context, at.VALUE_STORAGE + size)
    store(made + at.VALUE_REFERENCES, 1)
    store(made + at.VALUE_STATE, at.UNCONSTRUCTED)
    store(made + at.VALUE_KIND, payload_type << 8 | at.KIND_CONCRETE)
    store(made + at.VALUE_PAYLOAD, 0)
    store(made + at.VALUE_TARGET, 0)
    store(made + at.VALUE_OWNER, 0)
    # The two low bits are flags: OBJECT_REGISTERED and OBJECT_ABANDONED.
    store(made + at.VALUE_ASYNC, size << 2)
    store(context + at.CONTEXT_MADE, load(context + at.CONTEXT_MADE) + 1)
    return made


@inline
def storage_of(value: Address) -> Address:
    """Return the address of a value's payload.

    The producer may store the payload even after `async_abandon`.
    """
    if load_acquire(value + at.VALUE_KIND) >> 8 == at.TYPE_STORAGE:
        return value + at.VALUE_STORAGE
    return value + at.VALUE_PAYLOAD


@inline
def register_checked(context: Address, made: Address) -> None:
    """Register a new object if the runtime is checked."""
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    if shared != 0 and load(shared + at.ASYNC_CHECKED) != 0:
        register(shared, made)


@native
def register(shared: Address, made: Address) -> None:
    """Add a new object to the list of objects, and add a reference for the list."""
    # Plain stores suffice: no other thread knows the object until the push.
    store(made + at.VALUE_REFERENCES, load(made + at.VALUE_REFERENCES) + 1)
    store(made + at.VALUE_ASYNC, load(made + at.VALUE_ASYNC) | at.OBJECT_REGISTERED)
    push(shared + at.ASYNC_OBJECTS, made, at.VALUE_NEXT)
    fetch_add(shared + at.ASYNC_REGISTERED, 1)


@entry
def async_sweep(context: Address, shared: Address) -> None:
    """Destroy the registered objects to which only the list refers."""
    # `take_all` empties the list, so a concurrent sweep only finds objects that are pushed from now
    # on.
    registered = take_all(shared + at.ASYNC_OBJECTS)
    alive = 0
    dead = 0
    while registered != 0:
        following = load(registered + at.VALUE_NEXT)
        # Acquire: the threads that dropped the other references must be done with the object.
        if load_acquire(registered + at.VALUE_REFERENCES) == 1 and is_at_rest(registered):
            destroy_object(context, registered)
            dead += 1
        else:
            push(shared + at.ASYNC_OBJECTS, registered, at.VALUE_NEXT)
            alive += 1
        registered = following
    fetch_add(shared + at.ASYNC_REGISTERED, -dead)
    # Sweep again after the list has doubled, so that all sweeps together take time proportional to
    # the number of objects made.
    store_release(shared + at.ASYNC_LIMIT, 2 * alive + FIRST_LIMIT)


@entry
def next_stuck(shared: Address, after: Address) -> Address:
    """Return the next registered object that is unresolved and awaited, or 0.

    The search starts after the object `after`, or at the start of the list if `after` is 0.  Call
    this only while nothing is running.
    """
    registered = (
        load(after + at.VALUE_NEXT) if after != 0 else load_acquire(shared + at.ASYNC_OBJECTS)
    )
    while registered != 0:
        head = load_acquire(registered + at.VALUE_STATE)
        # A head above the state bits contains the address of a waiter.
        if head & at.STATE_BITS < at.CONCRETE and head > at.STATE_BITS:
            return registered
        registered = load(registered + at.VALUE_NEXT)
    return 0


@native
def is_at_rest(value: Address) -> bool:
    """Return whether no thread is working on an object that has no references.

    A group without references may still have unresolved members, which will decrement its count.  A
    reference per member would prevent that, but would cost another atomic operation.
    """
    if load(value + at.VALUE_KIND) >> 8 != at.TYPE_GROUP:
        return True
    pending = load_acquire(value + at.GROUP_PENDING)
    size = load(value + at.GROUP_SIZE)
    # The group is at rest if all added members are resolved, which are `size - pending`. ADDED may
    # exceed the size, because it also counts members that were one too many.
    if min(load_acquire(value + at.GROUP_ADDED), size) + pending != size:
        return False
    # The thread that counts the last member publishes the group afterward.
    return pending > 0 or is_available(value)


@native
def is_registered(value: Address) -> bool:
    """Return whether the list of objects holds a reference to the object."""
    return load_acquire(value + at.VALUE_ASYNC) & at.OBJECT_REGISTERED != 0


@inline
def drop_references(context: Address, value: Address, count: int) -> None:
    """Drop `count` references; dropping the last one destroys the object."""
    references = load_acquire(value + at.VALUE_REFERENCES)
    # If the caller owns all references, no other thread can change the count.
    if references != count:
        references = fetch_add(value + at.VALUE_REFERENCES, -count)
    if references <= count:
        last_reference(context, value, count - references)


@native
def last_reference(context: Address, value: Address, too_many: int) -> None:
    """Destroy an object whose last reference has been dropped.

    `too_many` is how many more references were dropped than the object had.  If it is not 0, or if
    the list's reference was among those dropped, report an error and leave the object alone.
    """
    kind = load(value + at.VALUE_KIND)
    if (
        load(value + at.VALUE_ASYNC) | too_many == 0
        and kind < at.TYPE_OBJECT << 8
        and kind & at.KIND_BITS != at.KIND_INDIRECT
    ):
        # The common case: only the cell must be freed.
        store(context + at.CONTEXT_DROPPED, load(context + at.CONTEXT_DROPPED) + 1)
        give_cell(context, value)
    elif is_registered(value):
        # The program has dropped the list's reference: restore it, and report the drop.
        store_release(value + at.VALUE_REFERENCES, 1)
        report_event(context, at.EVENT_RELEASED_TOO_OFTEN, value)
    elif too_many > 0:
        report_event(context, at.EVENT_RELEASED_TOO_OFTEN, 0)
    else:
        destroy_object(context, value)


@native
def take_held(value: Address, count: int) -> bool:
    """Take `count` of the references that the program has added explicitly.

    Return False, and take none, if the program has added fewer.
    """
    while True:
        # Check before subtracting: if the count were too low for a moment, another thread's valid
        # drop could be refused.
        bits = load_acquire(value + at.VALUE_ASYNC)
        # These references are counted in the highest bits, so the lower bits do not affect the
        # result.
        if bits < count * at.OBJECT_HELD:
            return False
        if compare_and_swap(value + at.VALUE_ASYNC, bits, bits - count * at.OBJECT_HELD) != 0:
            return True


@native
def disown(value: Address) -> bool:
    """Claim the right to drop the producer's reference.

    Return False if the object is already resolved or disowned.
    """
    while True:
        bits = load_acquire(value + at.VALUE_ASYNC)
        if bits & at.OBJECT_DISOWNED != 0:
            return False
        # Set the flag before claiming: a producer that finds the object claimed checks the flag.
        if compare_and_swap(value + at.VALUE_ASYNC, bits, bits | at.OBJECT_DISOWNED) != 0:
            return claim(value)


@native
def destroy_object(context: Address, value: Address) -> None:
    """Destroy an object without references."""
    if load(value + at.VALUE_KIND) >> 8 == at.TYPE_GROUP:
        drop_optional(context, load_acquire(value + at.GROUP_ERROR))
    destroy_chain(context, value)


@inline
def log_emplaced(context: Address, value: Address) -> None:
    """Log that an object becomes available, with the first word of its payload."""
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) != 0:
        write_code(context, at.LOG_EMPLACE, value, load(storage_of(value)))


@native
def emplace(context: Address, value: Address) -> None:
    """Make an object available, and drop the producer's reference."""
    # Log first, so that this event precedes the waiters' events.
    log_emplaced(context, value)
    while True:
        head = load_acquire(value + at.VALUE_STATE)
        if head & at.STATE_BITS != at.UNCONSTRUCTED:
            resolved_before(context, value)
            return
        if compare_and_swap(value + at.VALUE_STATE, head, at.CONCRETE) != 0:
            break
    # UNCONSTRUCTED is 0, so the former state is the address of the newest waiter, or 0.
    if head != at.UNCONSTRUCTED:
        run_waiters(context, head)
    drop_references(context, value, 1)


@native
def resolved_before(context: Address, value: Address) -> None:
    """Handle an attempt to resolve an object that is already resolved.

    Report an error unless the runtime itself has resolved the object.
    """
    bits = load_acquire(value + at.VALUE_ASYNC)
    if bits & at.OBJECT_DISOWNED != 0:
        # The program has dropped the producer's reference by hand, but also resolves the object.
        report_event(context, at.EVENT_RELEASED_TOO_OFTEN, value)
    elif bits & at.OBJECT_ABANDONED != 0:
        drop_references(context, value, 1)
    else:
        # The call that resolved the object has already dropped the producer's reference.
        report_event(context, at.EVENT_RESOLVED_TWICE, value)


@native
def set_object_error(context: Address, value: Address) -> None:
    """Resolve an object to the error that was recorded for it; drop the producer's reference."""
    log_code(context, at.LOG_FAIL, value, 0)
    if not claim(value):
        if state_of(value) == at.CONCRETE:
            # No other thread reads this word of an available object.
            drop_optional(context, exchange(value + at.VALUE_TARGET, 0))
        resolved_before(context, value)
        return
    failure = exchange(value + at.VALUE_TARGET, 0)
    become_error(
        context, value, failure if failure != 0 else report_event(context, at.EVENT_DESCRIBE, 0)
    )
    drop_references(context, value, 1)


@native
def become_error(context: Address, value: Address, failure: Address) -> None:
    """Publish a claimed object as the error `failure`.

    The function takes over the caller's reference to `failure`.
    """
    # Atomic, because a kernel that returns the object may be setting its type.
    kind = load_acquire(value + at.VALUE_KIND)
    if kind >> 8 == at.TYPE_GROUP:
        keep_error(context, value, failure)
    else:
        # The producer may have recorded an error before another thread claimed the object.
        drop_optional(context, exchange(value + at.VALUE_TARGET, failure))
        store_release(value + at.VALUE_KIND, kind | at.KIND_INDIRECT)
    publish(context, value, at.ERROR)


@native
def keep_error(context: Address, group: Address, failure: Address) -> None:
    """Make `failure` the error of a group, unless the group already has an error.

    The function takes over the caller's reference to `failure`.
    """
    if compare_and_swap(group + at.GROUP_ERROR, 0, failure) == 0:
        drop_reference(context, failure)


@entry
def async_abandon(context: Address, value: Address, failure: Address) -> int:
    """Resolve an object to the error `failure` on behalf of its producer.

    The function takes over the caller's reference to `failure`.  It does not drop the producer's
    reference to the object, because the producer may still try to resolve the object.  It returns 0
    if the object is already resolved.
    """
    # Set the flag before claiming: a producer that finds the object claimed checks the flag.
    while True:
        bits = load_acquire(value + at.VALUE_ASYNC)
        if compare_and_swap(value + at.VALUE_ASYNC, bits, bits | at.OBJECT_ABANDONED) != 0:
            break
    # A disowned object is already claimed. The first thread that abandons such an object resolves
    # it.
    is_first = bits & at.OBJECT_ABANDONED == 0
    if not claim(value) and not (
        is_first and bits & at.OBJECT_DISOWNED != 0 and not is_available(value)
    ):
        drop_reference(context, failure)
        return 0
    become_error(context, value, failure)
    return 1


@native
def error_of(context: Address, value: Address) -> Address:
    """Return the error value of an object that has failed, with a new reference."""
    failure = 0
    if load_acquire(value + at.VALUE_KIND) >> 8 == at.TYPE_GROUP:
        failure = load_acquire(value + at.GROUP_ERROR)
    elif state_of(value) == at.ERROR:
        failure = resolve(value)
    if failure == 0:
        return report_event(context, at.EVENT_DESCRIBE, 0)
    add_references(failure, 1)
    return failure


@native
def note_failure(context: Address, value: Address, failure: Address) -> None:
    """Record the error `failure` for an object that is about to fail.

    The function takes over the caller's reference to `failure`.  If an error is already recorded,
    that error stays: the runtime may have resolved the object to it with `async_abandon`.
    """
    if compare_and_swap(value + at.VALUE_TARGET, 0, failure) == 0:
        drop_reference(context, failure)


@native
def fail_thread(context: Address, failure: Address) -> None:
    """Record `failure` as the error of the function that is about to return on this thread.

    The function takes over the caller's reference to `failure`.
    """
    drop_optional(context, load(context + at.CONTEXT_FAILURE))
    store(context + at.CONTEXT_FAILURE, failure)


@native
def thread_failure(context: Address) -> Address:
    """Return the error of the function that has just returned on this thread.

    The caller gets a new reference.
    """
    failure = load(context + at.CONTEXT_FAILURE)
    if failure == 0:
        return report_event(context, at.EVENT_DESCRIBE, 0)
    add_references(failure, 1)
    return failure
