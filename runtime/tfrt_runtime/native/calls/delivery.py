"""Deliver a value to a register, to the kernels that use it, and up a chain of returns.

A slot describes one result of a kernel.  It names the register that stores the result.  It also
lists the result's users, which are the kernels that read the register, and its returns, which are
the positions at which the function returns the result.

No function here recurses, so the native stack does not grow with the program.  Results travel up a
chain of returns in a loop.  Kernels that become ready are pushed onto the thread's ready stack.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    forward_to,
    is_available,
    is_plain,
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
    release_available,
    release_users,
    run_waiters,
    watched_register_resolved,
)


@native
def put_in_register(
    context: Address, activation: Address, slot: Address, value: Address
) -> Address:
    """Write a value to a register, and return the value that the register then holds.

    In a function with non-strict kernels, a kernel may have read the register before it was
    written, and left an indirect value there.  In that case, forward the indirect value to `value`,
    and return the indirect value.

    In such a function, the caller also gets its own reference to the returned value, and must drop
    it.  Without that reference, other threads could destroy the value as soon as the register is
    written.
    """
    register = activation + load_i32(slot + at.SLOT_REGISTER)
    references = load_i32(slot + at.SLOT_REFERENCES)
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    if flags & at.FUNCTION_NONSTRICT == 0:
        # A plain store suffices: the readers do not run until their ready counts reach 0.
        if references > 1:
            multiply_reference(value, references - 1)
        store(register, value)
        return value
    # Add the references before the swap: once the register is written, readers may drop theirs.
    add_references(value, references)
    if compare_and_swap(register, 0, value) != 0:
        return value
    placeholder = load_acquire(register)
    if placeholder == value:  # a constant that was already copied from the template
        add_references(value, 1)
        return value
    # `peek_register` has added the readers' references to the placeholder, so `value` needs none.
    add_references(value, -references)
    run_waiters(context, forward_to(context, placeholder, value))
    return placeholder


@native
def peek_register(context: Address, activation: Address, register: int, references: int) -> Address:
    """Return the value of a register, or a placeholder if the register has not been written.

    Non-strict kernels read registers this way.  The placeholder is an indirect value, which later
    becomes the register's value.  `references` is the total number of references that all readers
    of the register need.
    """
    value = load_acquire(activation + register)
    if value != 0:
        return value
    # Offer a placeholder. If another thread fills the register first, the swap fails, and this
    # function returns the value that is then in the register.
    placeholder = new_indirect(context)
    add_references(placeholder, references)
    if compare_and_swap(activation + register, 0, placeholder) != 0:
        return placeholder  # `put_in_register` owns the placeholder's first reference
    add_references(placeholder, -references)
    drop_reference(context, placeholder)
    return load_acquire(activation + register)


@inline
def slot_of(record: Address, index: int) -> Address:
    """Return the slot of a kernel's result `index`."""
    number = load_i32(record + at.RECORD_ARGUMENTS) + index
    return record + load_i32(record + at.RECORD_REGISTERS + 4 * number)


@inline
def deliver(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Deliver a result as `deliver_plain` does; if the run is watched, also log it."""
    if is_watched(activation):
        log_value(context, watch_of(activation), activation, slot, value)
    deliver_plain(context, activation, slot, value)


@inline
def deliver_plain(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Deliver one result to its register, its users, and its returns.

    Take over a reference to `value`.  If the value is unavailable, its users wait for it, but it is
    still returned immediately.
    """
    # In functions with non-strict kernels, SLOT_RETURNS is never 0, so the plain store below cannot
    # overwrite a placeholder.
    if load_i32(slot + at.SLOT_RETURNS) != 0 or not is_plain(value):
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
    """Deliver a result as `deliver_plain` does, even if the value is returned or is not plain.

    Take over a reference to `value`.
    """
    # Loop instead of recursing: a value may be returned through any number of nested calls.
    while True:
        if load_i32(slot + at.SLOT_REFERENCES) == 0:
            # No kernel reads the register, but the log of a watched run must show when the value
            # becomes available.
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
            if users > 0:
                release_available(context, activation, slot, value)
        # The slots of a sync function list no users, but the function itself awaits its arguments.
        elif users > 0 or is_watched(activation) or awaits_arguments(activation):
            wait_for_register(context, activation, slot, value)
        if is_kept:
            drop_reference(context, value)
        if returns == 0:
            return
        numbers = slot + at.SLOT_LISTS + at.USER_SIZE * users
        # Only the first return continues in this loop. `return_value` handles the others without
        # recursion.
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

    Strict users keep the value alive until then.  If no strict user exists, the waiter gets its own
    reference.
    """
    if is_own_promise(activation, slot, value):
        # The task that resolves the value finds the slot there. If this thread hands that task to
        # another thread, it first marks the activation as shared.
        store(value + at.VALUE_WAITING, slot)
        add_pending(activation)
        return
    # Mark before adding the waiter: from then on, another thread may update the counters.
    mark_shared(activation)
    # Also count the delivery before adding the waiter: otherwise, the activation could end early.
    fetch_add(activation + at.ACTIVATION_REMAINING, 1)
    if needs_reference(activation, slot):
        add_references(value, 1)
    if not wait_for(context, value, at.WAIT_REGISTER, activation, slot):
        watched_register_resolved(context, activation, slot, value)


@inline
def is_own_promise(activation: Address, slot: Address, value: Address) -> bool:
    """Return whether `value` will be resolved by a task that only this thread knows about.

    The answer is True only if no other slot waits for the value.
    """
    # `async_kernels.keep_for_register` may resolve such a value without running waiters. If the
    # value were also returned, or awaited by another slot, it could have waiters.
    mine = (
        load(activation + at.ACTIVATION_SHARED) == 0 and load(value + at.VALUE_OWNER) == activation
    )
    return mine and load_i32(slot + at.SLOT_RETURNS) == 0 and load(value + at.VALUE_WAITING) == 0


@native
def return_value(context: Address, activation: Address, index: int, value: Address) -> None:
    """Pass a result to the caller of the activation.

    Take over a reference to `value`.  For RETURN_CALL, push the delivery onto the ready stack.
    """
    kind = load(activation + at.ACTIVATION_RETURN)
    owner = load(activation + at.ACTIVATION_CALLER_RECORD)
    if kind == at.RETURN_ROOT:
        indirect = load(owner + 8 * index)
        run_waiters(context, forward_to(context, indirect, value))
        drop_reference(context, indirect)
    elif kind == at.RETURN_LOOP:
        # Plain stores suffice: this thread counts down REMAINING afterward, which publishes them to
        # the thread that ends the body.
        if index == load(owner + at.LOOP_VALUES):
            store(owner + at.LOOP_CONDITION, value)
        else:
            store(owner + at.LOOP_TABLE + 8 * index, value)
    elif kind == at.RETURN_JOIN:
        # The join must also await the block's chain. Count the chain before adding the waiter:
        # otherwise, the join could end after the block ends and before the chain is resolved.
        fetch_add(owner + at.JOIN_LEFT, 1)
        if not wait_for(context, value, at.WAIT_JOIN, owner, 0):
            join_resolved(context, owner, value)
    else:
        # Postpone the delivery: `deliver` called this function, so delivering here would recurse.
        caller = load(activation + at.ACTIVATION_CALLER)
        # Count the postponed delivery, so that the caller's activation cannot end before it.
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
    """End a kernel that owns its arguments: drop them, and deliver its only result.

    Take over a reference to the result `value`.
    """
    drop_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    deliver(context, activation, slot_of(record, 0), value)
    finish(context, activation)


@inline
def position_of(activation: Address) -> Address:
    """Return the address of a sync function's position, or 0 for other functions.

    The position says which kernel runs next.  The word after it holds the function's error.
    """
    function = load(activation + at.ACTIVATION_FUNCTION)
    if load(function + at.FUNCTION_FLAGS) & at.FUNCTION_IN_ORDER == 0:
        return 0
    return activation + load(function + at.FUNCTION_SIZE) - at.IN_ORDER_WORDS


@native
def awaits_arguments(activation: Address) -> bool:
    """Return whether an activation belongs to a sync function that still awaits its arguments."""
    position = position_of(activation)
    return position != 0 and load(position) == 0


@native
def note_failure(activation: Address, failed: Address) -> None:
    """Record an error in a sync function; the first error recorded ends the function.

    For any other function, do nothing.
    """
    position = position_of(activation)
    if position != 0 and load(position + 8) == 0:
        add_references(failed, 1)
        store(position + 8, failed)


@native
def deliver_later(context: Address, delivery: Address, value: Address) -> None:
    """Make a delivery that `return_value` has postponed."""
    caller = load(delivery)
    slot = load(delivery + 8)
    give_block(context, delivery, at.CELL_SIZE)
    deliver(context, caller, slot, value)
    finish(context, caller)
