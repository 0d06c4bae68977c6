"""Groups of tokens and values: available once as many members as they have room for are resolved.

A group's errors are its members': the first one is kept, the others are forgotten.  Every group is
registered: it is destroyed when it has no references and all members that it got are resolved.
"""

from __future__ import annotations

from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import claim, new_waiter, state_of
from tfrt_runtime.native.coroutines.async_objects import (
    add_waiter_or_free,
    error_of,
    keep_error,
    new_large,
    register,
    report_event,
    sweep_when_full,
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
    """A group that waits for `size` members, with one reference."""
    group = new_large(context, at.TYPE_GROUP, co.GROUP_STORAGE)
    store(group + co.GROUP_PENDING, size)
    store(group + co.GROUP_ADDED, 0)
    store(group + co.GROUP_SIZE, size)
    store(group + co.GROUP_ERROR, 0)
    store(group + co.GROUP_EXCESS, 0)
    if size <= 0:
        store(group + at.VALUE_STATE, at.CONCRETE)
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    register(shared, group)
    sweep_when_full(context, shared)
    return group


@native
def add_member(context: Address, member: Address, group: Address, record: Address) -> int:
    """Add a token or a value to a group; how many were added before it.

    `record` says where the program does so, 0 if that is unknown.
    """
    # PENDING counts down from the size, not up with the members: a group whose first members are
    # resolved before the last ones are added must not become available early.
    rank = fetch_add(group + co.GROUP_ADDED, 1)
    if rank >= load(group + co.GROUP_SIZE):
        # Of several additions that are too many at once, any may be named.
        store_release(group + co.GROUP_EXCESS, record)
        keep_error(context, group, report_event(context, co.EVENT_OVERFILLED, group))
        return rank
    if state_of(member) < at.CONCRETE:
        function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MEMBER_RESOLVED)
        waiter = new_waiter(context, at.WAIT_NOTIFY, function, group)
        if add_waiter_or_free(context, member, waiter, 0):
            return rank
    member_done(context, group, member)
    return rank


@entry
def member_resolved(context: Address, group: Address, member: Address) -> None:
    """Waiter function: a member is resolved."""
    member_done(context, group, member)


@native
def member_done(context: Address, group: Address, member: Address) -> None:
    """Count a resolved member; after the last one the group is available.

    The group may be gone once the member is counted, unless that was the last one.
    """
    # The error before the count: the thread that counts last reads whether there is one.
    if state_of(member) == at.ERROR:
        keep_error(context, group, error_of(context, member))
    if fetch_add(group + co.GROUP_PENDING, -1) == 1 and claim(group):
        publish(context, group, at.ERROR if has_error(group) else at.CONCRETE)


@native
def has_error(group: Address) -> bool:
    """Whether a member that is resolved by now failed."""
    return load_acquire(group + co.GROUP_ERROR) != 0
