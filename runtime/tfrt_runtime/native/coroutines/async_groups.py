"""Groups of async objects.

A group counts its pending members, and is resolved when no member is pending.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import claim, state_of, wait_for
from tfrt_runtime.native.coroutines.async_objects import (
    async_sweep,
    error_of,
    keep_error,
    new_large,
    register,
    report_event,
)
from tfrt_runtime.native.memory import (
    Address,
    entry,
    fetch_add,
    load,
    load_acquire,
    native,
    store,
    store_release,
)
from tfrt_runtime.native.queues.waiters import publish


@native
def new_group(context: Address, size: int) -> Address:
    """Make a group that waits for `size` members, with one reference."""
    group = new_large(context, at.TYPE_GROUP, at.GROUP_STORAGE)
    store(group + at.GROUP_PENDING, size)
    store(group + at.GROUP_ADDED, 0)
    store(group + at.GROUP_SIZE, size)
    store(group + at.GROUP_ERROR, 0)
    store(group + at.GROUP_EXCESS, 0)
    if size <= 0:
        store(group + at.VALUE_STATE, at.CONCRETE)
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    register(shared, group)
    # Sweep from time to time, so that dead objects do not accumulate in a long run.
    registered = load_acquire(shared + at.ASYNC_REGISTERED)
    is_full = registered > load_acquire(shared + at.ASYNC_LIMIT)
    if is_full and load(shared + at.ASYNC_CHECKED) == 0:
        async_sweep(context, shared)
    return group


@native
def add_member(context: Address, member: Address, group: Address, record: Address) -> int:
    """Add a token or a value to a group; return how many members the group had before.

    `record` describes the operation that adds the member, or is 0 if that is unknown.
    """
    # PENDING starts at the group's size and counts down. If it counted up as members were added, a
    # group would become available too early if its first members were resolved before the last was
    # added.
    rank = fetch_add(group + at.GROUP_ADDED, 1)
    if rank >= load(group + at.GROUP_SIZE):
        # If several threads each add one member too many, the error may name any of them.
        store_release(group + at.GROUP_EXCESS, record)
        keep_error(context, group, report_event(context, at.EVENT_OVERFILLED, group))
        return rank
    if state_of(member) < at.CONCRETE:
        function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MEMBER_RESOLVED)
        if wait_for(context, member, at.WAIT_NOTIFY, function, group):
            return rank
    member_resolved(context, group, member)
    return rank


@entry
def member_resolved(context: Address, group: Address, member: Address) -> None:
    """Waiter function: count a resolved member, and resolve the group after the last one.

    Once a member other than the last has been counted, another thread may free the group.
    """
    # Store the error before counting: the thread that counts last checks for an error.
    if state_of(member) == at.ERROR:
        keep_error(context, group, error_of(context, member))
    if fetch_add(group + at.GROUP_PENDING, -1) == 1 and claim(group):
        # The claim fails if the runtime has abandoned the group, because `async_abandon` then
        # resolves it.
        publish(context, group, at.ERROR if has_error(group) else at.CONCRETE)


@native
def has_error(group: Address) -> bool:
    """Return whether a member has failed so far."""
    return load_acquire(group + at.GROUP_ERROR) != 0
