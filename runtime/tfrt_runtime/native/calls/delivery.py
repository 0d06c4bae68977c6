"""Deliver values: from a kernel to a register, to its users, and up a chain of returns.

No function here recurses.  Results travel up a chain of returns in a loop, and work that becomes
ready goes to the thread's ready stack, so the native stack does not grow with the program.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    forward_to,
    is_available,
    multiply_reference,
    new_indirect,
    wait_for,
)
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.events import is_watched, log_value, watch_of
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    fetch_add,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    outline,
    store,
)
from tfrt_runtime.native.queues.waiters import (
    add_pending,
    finish,
    join_resolved,
    mark_shared,
    needs_reference,
    push_ready,
    release_users,
    run_waiters,
    watched_register_resolved,
)


@native
def put_in_register(
    context: Address, activation: Address, slot: Address, value: Address
) -> Address:
    """Write a register, once; return the value that its readers will find there.

    In a function with non-strict kernels, a reader may have come first and left an indirect value,
    which then forwards to this one.  In such a function, the caller keeps a reference to the
    returned value and drops that reference in the end, because a reader on another thread may take
    the register's references as soon as the register is written.
    """
    register = activation + load_i32(slot + at.SLOT_REGISTER)
    references = load_i32(slot + at.SLOT_REFERENCES)
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    if flags & at.FUNCTION_NONSTRICT == 0:
        # A plain store suffices, because the readers become ready only after this, through their
        # ready counts.
        if references > 1:
            multiply_reference(value, references - 1)
        store(register, value)
        return value
    # Add the references before the swap: once the register is written, a reader may use and drop
    # them.
    add_references(value, references)
    if compare_and_swap(register, 0, value) != 0:
        return value
    placeholder = load_acquire(register)
    if placeholder == value:  # a constant that was already copied from the template
        add_references(value, 1)
        return value
    add_references(value, -references)
    run_waiters(context, forward_to(context, placeholder, value))
    return placeholder


@native
def peek_register(context: Address, activation: Address, register: int, references: int) -> Address:
    """Return what a non-strict kernel finds in a register: the value, or an indirect value for it.

    `references` is the total number of references that the register's readers need.
    """
    value = load_acquire(activation + register)
    if value != 0:
        return value
    # The value has not arrived yet, so readers get a placeholder. One swap decides whether the
    # value or the placeholder is first; the thread that loses uses the register's content.
    placeholder = new_indirect(context)
    add_references(placeholder, references)
    if compare_and_swap(activation + register, 0, placeholder) != 0:
        return placeholder  # its first reference belongs to the code that brings the value
    add_references(placeholder, -references)
    drop_reference(context, placeholder)
    return load_acquire(activation + register)


@inline
def slot_of(record: Address, index: int) -> Address:
    """Return the slot of a kernel's result."""
    number = load_i32(record + at.RECORD_ARGUMENTS) + index
    return record + load_i32(record + at.RECORD_REGISTERS + 4 * number)


@inline
def deliver(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Deliver like `deliver_plain`, but also support watched runs."""
    if is_watched(activation):
        log_value(context, watch_of(activation), activation, slot, value)
    deliver_plain(context, activation, slot, value)


@inline
def deliver_plain(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Deliver one result to its register, its users, and its returns.  This consumes a reference.

    The value may be unavailable: in that case, users wait for it, while a return passes it up
    unchanged.
    """
    if load_i32(slot + at.SLOT_RETURNS) != 0 or not is_available(value):
        deliver_special(context, activation, slot, value)
        return
    references = load_i32(slot + at.SLOT_REFERENCES)
    if references == 0:
        drop_reference(context, value)
        return
    if references > 1:
        multiply_reference(value, references - 1)
    store(activation + load_i32(slot + at.SLOT_REGISTER), value)
    release_users(context, activation, slot)


@outline
def deliver_special(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Deliver any value to any kind of slot, as `deliver` describes."""
    # Use a loop instead of recursion, because a value may be returned through any number of nested
    # calls.
    while True:
        if load_i32(slot + at.SLOT_REFERENCES) == 0:
            if not is_available(value) and is_watched(activation):
                wait_for_register(context, activation, slot, value)
            drop_reference(context, value)
            return
        function = load(activation + at.ACTIVATION_FUNCTION)
        is_kept = load(function + at.FUNCTION_FLAGS) & at.FUNCTION_NONSTRICT != 0
        value = put_in_register(context, activation, slot, value)
        users = load_i32(slot + at.SLOT_USERS)
        returns = load_i32(slot + at.SLOT_RETURNS) & ~at.SLOT_NONSTRICT
        if is_available(value):
            release_users(context, activation, slot)
        elif users > 0 or is_watched(activation) or awaits_arguments(activation):
            wait_for_register(context, activation, slot, value)
        if is_kept:
            drop_reference(context, value)
        if returns == 0:
            return
        numbers = slot + at.SLOT_LISTS + at.USER_SIZE * users
        for i in range(1, returns):
            return_value(context, activation, load_i32(numbers + 4 * i), value)
        if load(activation + at.ACTIVATION_RETURN) != at.RETURN_CALL:
            return_value(context, activation, load_i32(numbers), value)
            return
        record = load(activation + at.ACTIVATION_CALLER_RECORD)
        activation = load(activation + at.ACTIVATION_CALLER)
        slot = slot_of(record, load_i32(numbers))
        if is_watched(activation):
            log_value(context, watch_of(activation), activation, slot, value)


@outline
def wait_for_register(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Release the users of `slot` once `value` is available, perhaps on another thread.

    Strict users keep the value alive until then.  If there are none, the waiter needs its own
    reference, because the value's publisher holds one only until its waiters run.
    """
    if is_own_promise(activation, slot, value):
        # The task that resolves the value will find the slot there. A thread that hands the task
        # over marks the activation as shared first.
        store(value + at.VALUE_WAITING, slot)
        add_pending(activation)
        return
    # Do this before the waiter is added: the thread that resolves the value may update this
    # activation's counters immediately.
    mark_shared(activation)
    # The delivery, too, must be counted before the waiter is added: otherwise, the activation could
    # end before the value arrives.
    fetch_add(activation + at.ACTIVATION_REMAINING, 1)
    if needs_reference(activation, slot):
        add_references(value, 1)
    if not wait_for(context, value, at.WAIT_REGISTER, activation, slot):
        watched_register_resolved(context, activation, slot, value)


@inline
def is_own_promise(activation: Address, slot: Address, value: Address) -> bool:
    """Tell whether a task that only this thread knows will resolve `value`, for a single
    register.
    """
    mine = (
        load(activation + at.ACTIVATION_SHARED) == 0 and load(value + at.VALUE_OWNER) == activation
    )
    return mine and load_i32(slot + at.SLOT_RETURNS) == 0 and load(value + at.VALUE_WAITING) == 0


@native
def return_value(context: Address, activation: Address, index: int, value: Address) -> None:
    """Return a result to the caller; for RETURN_CALL, postpone the delivery.

    Consumes a reference.
    """
    kind = load(activation + at.ACTIVATION_RETURN)
    owner = load(activation + at.ACTIVATION_CALLER_RECORD)
    if kind == at.RETURN_ROOT:
        indirect = load(owner + 8 * index)
        run_waiters(context, forward_to(context, indirect, value))
        drop_reference(context, indirect)
    elif kind == at.RETURN_LOOP:
        if index == load(owner + at.LOOP_VALUES):
            store(owner + at.LOOP_CONDITION, value)
        else:
            store(owner + at.LOOP_TABLE + 8 * index, value)
    elif kind == at.RETURN_JOIN:
        # A block's chain counts once it is available. Count before the waiter is added, because the
        # join must not end between the end of the block and the arrival of its chain.
        fetch_add(owner + at.JOIN_LEFT, 1)
        if not wait_for(context, value, at.WAIT_JOIN, owner, 0):
            join_resolved(context, owner, value)
    else:
        # The delivery is postponed because `deliver` called this function, and would recurse once
        # per nested call.
        caller = load(activation + at.ACTIVATION_CALLER)
        add_pending(caller)
        delivery = take_block(context, at.CELL_SIZE)
        store(delivery, caller)
        store(delivery + 8, slot_of(owner, index))
        push_ready(context, delivery | at.READY_DELIVERY, value)


@inline
def drop_arguments(context: Address, activation: Address, record: Address, count: int) -> None:
    """Drop the kernel's references to its first `count` arguments, in order, as TFRT does."""
    for i in range(count):
        drop_reference(context, load(activation + load_i32(record + at.RECORD_REGISTERS + 4 * i)))


@native
def end_kernel(context: Address, activation: Address, record: Address, value: Address) -> None:
    """End a kernel that owns its arguments and has one result.

    This consumes a reference to the result.
    """
    drop_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    deliver(context, activation, slot_of(record, 0), value)
    finish(context, activation)


@inline
def position_of(activation: Address) -> Address:
    """Return the address of a sync function's position, which is followed by the function's error;
    return 0 for other functions.
    """
    function = load(activation + at.ACTIVATION_FUNCTION)
    if load(function + at.FUNCTION_FLAGS) & at.FUNCTION_IN_ORDER == 0:
        return 0
    return activation + load(function + at.FUNCTION_SIZE) - at.IN_ORDER_WORDS


@native
def awaits_arguments(activation: Address) -> bool:
    """Tell whether an activation belongs to a sync function that has not started."""
    position = position_of(activation)
    return position != 0 and load(position) == 0


@native
def note_failure(activation: Address, failed: Address) -> None:
    """Let the first error of a kernel end the kernel's activation if it belongs to a sync
    function.
    """
    position = position_of(activation)
    if position != 0 and load(position + 8) == 0:
        add_references(failed, 1)
        store(position + 8, failed)


@native
def deliver_later(context: Address, delivery: Address, value: Address) -> None:
    """Finish a postponed delivery."""
    caller = load(delivery)
    slot = load(delivery + 8)
    give_block(context, delivery, at.CELL_SIZE)
    deliver(context, caller, slot, value)
    finish(context, caller)
