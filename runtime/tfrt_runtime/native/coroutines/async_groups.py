"""Groups of async objects: members are counted, and the group is resolved when none is pending."""

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
    # Sweep dead objects if there are many, so that a program that runs for a long time keeps few of
    # them.
    registered = load_acquire(shared + at.ASYNC_REGISTERED)
    is_full = registered > load_acquire(shared + at.ASYNC_LIMIT)
    if is_full and load(shared + at.ASYNC_CHECKED) == 0:
        async_sweep(context, shared)
    return group


@native
def add_member(context: Address, member: Address, group: Address, record: Address) -> int:
    """Add a token or a value to a group; return how many members were added before it.

    `record` is the place in the program where the member is added, or 0 if the place is unknown.
    """
    # PENDING starts at the group's size and is counted down, instead of up as members are added: a
    # group whose first members are resolved before its last ones are added must not become
    # available early.
    rank = fetch_add(group + at.GROUP_ADDED, 1)
    if rank >= load(group + at.GROUP_SIZE):
        # If several surplus additions happen simultaneously, any of them may be named.
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
    """Count a resolved member; after the last one, the group is available (waiter function).

    The group may be gone once the member has been counted, unless it was the last member.
    """
    # Store the error before counting: the thread that counts last checks whether an error exists.
    if state_of(member) == at.ERROR:
        keep_error(context, group, error_of(context, member))
    if fetch_add(group + at.GROUP_PENDING, -1) == 1 and claim(group):
        publish(context, group, at.ERROR if has_error(group) else at.CONCRETE)


@native
def has_error(group: Address) -> bool:
    """Tell whether a member that is already resolved has failed."""
    return load_acquire(group + at.GROUP_ERROR) != 0
