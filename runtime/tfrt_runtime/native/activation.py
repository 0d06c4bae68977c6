"""Activations: one call of a function, its registers and ready counts, and where values go.

An activation is alive while kernels of it have not finished or deliveries to it wait; when the last one has finished,
the run loop ends it, and that finishes the kernel of the caller that started it.  Nothing here
recurses: results travel up a chain of returns in a loop, and what must happen next (a kernel to run,
an activation to end) goes to the thread's ready stack.  So the native stack does not grow with the
program.

An entry of the ready stack is a pair of words.  The low bits of the first say what it is: READY_KERNEL
(activation, record), READY_DELIVERY (delivery, value), READY_END (activation), READY_JOIN (join).

While only one thread knows an activation its counters are plain words.  Whoever is about to let
another thread reach it calls `mark_shared` first; from then on they are atomic.
"""

from __future__ import annotations

from tfrt_runtime.native.async_value import (
    add_references,
    add_waiter,
    drop_optional,
    drop_reference,
    forward_to,
    give_block,
    give_cell,
    is_available,
    new_available,
    new_indirect,
    new_waiter,
    point_at,
    resolve,
    take_block,
    take_waiters,
)
from tfrt_runtime.native.layouts import (
    ACTIVATION_CALLER,
    ACTIVATION_CALLER_RECORD,
    ACTIVATION_FUNCTION,
    ACTIVATION_NESTED,
    ACTIVATION_REGISTERS,
    ACTIVATION_REMAINING,
    ACTIVATION_REQUEST,
    ACTIVATION_RETURN,
    ACTIVATION_SHARED,
    CELL_SIZE,
    CONTEXT_NUMBER,
    CONTEXT_PROCESS,
    CONTEXT_PUBLISHING,
    CONTEXT_QUEUE,
    CONTEXT_READY,
    CONTEXT_READY_LIMIT,
    CONTEXT_READY_TOP,
    CONTEXT_STARTED,
    CONTEXT_WAITERS,
    ERROR,
    FUNCTION_ARGUMENT_TABLE,
    FUNCTION_CONSTANT_TABLE,
    FUNCTION_CONSTANTS,
    FUNCTION_ENTRIES,
    FUNCTION_ENTRY_TABLE,
    FUNCTION_FLAGS,
    FUNCTION_KERNELS,
    FUNCTION_NONSTRICT,
    FUNCTION_RESULTS,
    FUNCTION_SIZE,
    FUNCTION_TEMPLATE,
    FUNCTION_TEMPLATE_SIZE,
    FUNCTION_TRACED,
    JOIN_CALLER,
    JOIN_ERROR,
    JOIN_LEFT,
    JOIN_RECORD,
    JOIN_SIZE,
    LATCH_OWNERS,
    LATCH_PENDING,
    LOOP_CALLER,
    LOOP_CONDITION,
    LOOP_FUNCTION,
    LOOP_LEFT,
    LOOP_RECORD,
    LOOP_TABLE,
    LOOP_VALUES,
    PROCESS_PYTHON_WAITER,
    PROCESS_REQUEST_DONE,
    PROCESS_TRACE_CALL,
    READY_DELIVERY,
    READY_END,
    READY_JOIN,
    RECORD_ARGUMENTS,
    RECORD_REGISTERS,
    RECORD_SLOTS,
    REQUEST_ACTIVE,
    REQUEST_CANCEL,
    RETURN_CALL,
    RETURN_JOIN,
    RETURN_LOOP,
    RETURN_ROOT,
    SHARED_ALONE,
    SHARED_WITH_CALLERS,
    SLOT_LISTS,
    SLOT_REFERENCES,
    SLOT_REGISTER,
    SLOT_RETURNS,
    SLOT_SPECIAL,
    SLOT_TRACE,
    SLOT_USERS,
    STATE_BITS,
    TRACE_COUNT,
    TRACE_RESOLVED,
    TRACE_STARTED,
    TRACE_VALUE,
    TRACE_WORKER,
    TYPE_CHAIN,
    USER_SIZE,
    VALUE_PAYLOAD,
    VALUE_STATE,
    WAIT_CALL,
    WAIT_END,
    WAIT_FORWARD,
    WAIT_JOIN,
    WAIT_LATCH,
    WAIT_NOTIFY,
    WAIT_PYTHON,
    WAIT_REGISTER,
    WAIT_TASK,
    WAITER_FIRST,
    WAITER_KIND,
    WAITER_NEXT,
    WAITER_SECOND,
    WAITER_THIRD,
    WAITER_VALUE,
)
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    call2,
    call3,
    compare_and_swap,
    copy,
    exchange,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    now,
    release,
    store,
    store_release,
)
from tfrt_runtime.native.tasks import add_local_task, new_task, wake_all


@inline
def push_ready(context: Address, activation: Address, record: Address) -> None:
    """Put a kernel on this thread's stack of ready kernels."""
    top = load(context + CONTEXT_READY_TOP)
    if top == load(context + CONTEXT_READY_LIMIT):
        top = grow_ready(context)
    store(top, activation)
    store(top + 8, record)
    store(context + CONTEXT_READY_TOP, top + 16)


@native
def grow_ready(context: Address) -> Address:
    """Double the stack of ready kernels; returns the new top."""
    base = load(context + CONTEXT_READY)
    size = load(context + CONTEXT_READY_TOP) - base
    larger = allocate(2 * size)
    copy(larger, base, size)
    release(base)
    store(context + CONTEXT_READY, larger)
    store(context + CONTEXT_READY_LIMIT, larger + 2 * size)
    return larger + size


@native
def mark_shared(activation: Address) -> None:
    """Make the counters of an activation and its callers atomic, before another thread comes in."""
    while activation != 0 and load(activation + ACTIVATION_SHARED) != SHARED_WITH_CALLERS:
        store(activation + ACTIVATION_SHARED, SHARED_WITH_CALLERS)
        kind = load(activation + ACTIVATION_RETURN)
        owner = load(activation + ACTIVATION_CALLER_RECORD)
        if kind == RETURN_LOOP:
            activation = load(owner + LOOP_CALLER)
        elif kind == RETURN_CALL:
            activation = load(activation + ACTIVATION_CALLER)
        else:
            return


@native
def add_pending(activation: Address) -> None:
    """One more thing that has to finish before the activation ends."""
    if load(activation + ACTIVATION_SHARED) == 0:
        store(activation + ACTIVATION_REMAINING, load(activation + ACTIVATION_REMAINING) + 1)
    else:
        fetch_add(activation + ACTIVATION_REMAINING, 1)


@native
def new_activation(
    context: Address,
    function: Address,
    request: Address,
    return_kind: int,
    caller: Address,
    record: Address,
    nested: int,
) -> Address:
    """An activation at the entry of `function`; one pending count belongs to who fills it.

    `nested` is ACTIVATION_NESTED of what it is nested in.
    Deliver the arguments, then call `begin`.
    """
    activation = take_block(context, load(function + FUNCTION_SIZE))
    store(activation + ACTIVATION_FUNCTION, function)
    store(activation + ACTIVATION_REQUEST, request)
    store(activation + ACTIVATION_RETURN, return_kind)
    store(activation + ACTIVATION_CALLER, caller)
    store(activation + ACTIVATION_CALLER_RECORD, record)
    store(activation + ACTIVATION_NESTED, nested + load(function + FUNCTION_SIZE))
    # Weights of 0 are only understood where counters are atomic.  Its callers need not be shared.
    is_atomic = load(function + FUNCTION_FLAGS) & FUNCTION_NONSTRICT != 0
    store(activation + ACTIVATION_SHARED, SHARED_ALONE if is_atomic else 0)
    reset_activation(activation, function)
    return activation


@native
def reset_activation(activation: Address, function: Address) -> None:
    """Registers and counters as at entry.  Keeps whether the activation is shared."""
    store(activation + ACTIVATION_REMAINING, load(function + FUNCTION_KERNELS) + 1)
    copy(
        activation + ACTIVATION_REGISTERS,
        load(function + FUNCTION_TEMPLATE),
        load(function + FUNCTION_TEMPLATE_SIZE),
    )


@native
def begin(context: Address, activation: Address) -> None:
    """Make the kernels ready that wait for nothing; gives up the pending count of the filler.

    Pushed in reverse, so that they run in program order.
    """
    function = load(activation + ACTIVATION_FUNCTION)
    if load(function + FUNCTION_FLAGS) & FUNCTION_TRACED != 0:
        trace_call(context, activation, 0)
    entries = load(function + FUNCTION_ENTRY_TABLE)
    for i in range(load(function + FUNCTION_ENTRIES) - 1, -1, -1):
        push_ready(context, activation, load(entries + 8 * i))
    constants = load(function + FUNCTION_CONSTANT_TABLE)
    for i in range(load(function + FUNCTION_CONSTANTS)):
        deliver(context, activation, load(constants + 16 * i), load(constants + 16 * i + 8))
    finish(context, activation)


@native
def trace_call(context: Address, activation: Address, is_end: int) -> None:
    """Tell whoever traces calls.  A loop that waits for its condition ends an iteration twice."""
    callback = load(load(context + CONTEXT_PROCESS) + PROCESS_TRACE_CALL)
    call3(callback, context, activation, is_end)


@native
def trace_value(context: Address, trace: Address, value: Address) -> None:
    """Publish `value` as the latest of a named value; the record takes a reference."""
    add_references(value, 1)
    time = now()
    started = load(context + CONTEXT_STARTED)
    store_release(trace + TRACE_STARTED, time if started == 0 else started)
    store_release(trace + TRACE_RESOLVED, time if is_available(value) else 0)
    store_release(trace + TRACE_WORKER, load(context + CONTEXT_NUMBER))
    fetch_add(trace + TRACE_COUNT, 1)
    drop_optional(context, exchange(trace + TRACE_VALUE, value))


@native
def put_in_register(
    context: Address, activation: Address, slot: Address, value: Address
) -> Address:
    """Write a register once; returns what its readers will find there.

    In a function with non-strict kernels a reader may have come first: it left an indirect value,
    which then forwards to this one.  The caller then has a reference to that one to drop.
    """
    register = activation + load(slot + SLOT_REGISTER)
    references = load(slot + SLOT_REFERENCES)
    flags = load(load(activation + ACTIVATION_FUNCTION) + FUNCTION_FLAGS)
    if flags & FUNCTION_NONSTRICT == 0:
        if references > 1:
            add_references(value, references - 1)
        store(register, value)
        return value
    add_references(value, references)
    if compare_and_swap(register, 0, value) != 0:
        drop_reference(context, value)
        return value
    placeholder = load_acquire(register)
    if placeholder == value:  # a constant, which the template has brought
        return value
    add_references(value, -references)
    run_waiters(context, forward_to(context, placeholder, value))
    return placeholder


@native
def peek_register(context: Address, activation: Address, register: int, references: int) -> Address:
    """What a non-strict kernel finds in a register: the value, or an indirect one for it.

    `references` is the number of references that the register's readers need in all.
    """
    value = load_acquire(activation + register)
    if value != 0:
        return value
    placeholder = new_indirect(context)
    add_references(placeholder, references)
    if compare_and_swap(activation + register, 0, placeholder) != 0:
        return placeholder  # its first reference is for whoever brings the value
    add_references(placeholder, -references)
    drop_reference(context, placeholder)
    return load_acquire(activation + register)


@inline
def deliver(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Bring one result to its register, its users and its returns.  Consumes a reference.

    The value may be unavailable: then users wait for it, while a return hands it up as it is.
    """
    if load(slot + SLOT_SPECIAL) != 0 or not is_available(value):
        deliver_special(context, activation, slot, value)
        return
    references = load(slot + SLOT_REFERENCES)
    if references == 0:
        drop_reference(context, value)
        return
    if references > 1:
        add_references(value, references - 1)
    store(activation + load(slot + SLOT_REGISTER), value)
    release_users(context, activation, slot)


@native
def deliver_special(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """What `deliver` says, for every kind of slot and value."""
    while True:
        trace = load(slot + SLOT_TRACE)
        if trace != 0:
            trace_value(context, trace, value)
        if load(slot + SLOT_REFERENCES) == 0:
            if trace != 0 and not is_available(value):
                wait_for_register(context, activation, slot, value)
            drop_reference(context, value)
            return
        arrived = value
        value = put_in_register(context, activation, slot, arrived)
        users = load(slot + SLOT_USERS)
        returns = load(slot + SLOT_RETURNS)
        if is_available(value):
            release_users(context, activation, slot)
        elif users > 0 or trace != 0:
            wait_for_register(context, activation, slot, value)
        if value != arrived:
            drop_reference(context, value)
        if returns == 0:
            return
        numbers = slot + SLOT_LISTS + USER_SIZE * users
        for i in range(1, returns):
            return_value(context, activation, load(numbers + 8 * i), value)
        if load(activation + ACTIVATION_RETURN) != RETURN_CALL:
            return_value(context, activation, load(numbers), value)
            return
        record = load(activation + ACTIVATION_CALLER_RECORD)
        activation = load(activation + ACTIVATION_CALLER)
        slot = load(load(record + RECORD_SLOTS) + 8 * load(numbers))


@inline
def release_users(context: Address, activation: Address, slot: Address) -> None:
    """Count an available value for each kernel that uses it; push those that become ready."""
    users = load(slot + SLOT_USERS)
    user = slot + SLOT_LISTS
    if load(activation + ACTIVATION_SHARED) != 0:
        release_users_shared(context, activation, user, users)
        return
    for _ in range(users):
        ready = activation + load(user + 8)
        left = load(ready) - load(user + 16)
        store(ready, left)
        if left == 0:
            push_ready(context, activation, load(user))
        user += USER_SIZE


@native
def release_users_shared(context: Address, activation: Address, user: Address, users: int) -> None:
    """As `release_users`, where other threads count down as well.

    A weight of 0 marks a non-strict kernel: the first value starts it.
    """
    for _ in range(users):
        ready = activation + load(user + 8)
        weight = load(user + 16)
        if weight == 0:
            is_ready = fetch_add(ready, -1) == 1
        else:
            # The last to arrive sees its own weight left: nobody else will count down any more.
            is_ready = load_acquire(ready) == weight or fetch_add(ready, -weight) == weight
        if is_ready:
            push_ready(context, activation, load(user))
        user += USER_SIZE


@native
def wait_for_register(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """Release the users of `slot` once `value` is there, perhaps on another thread.

    Strict users keep the value alive until then.  Where there is none of them the waiter needs a
    reference of its own: who publishes the value has one only until its waiters run.
    """
    mark_shared(activation)
    fetch_add(activation + ACTIVATION_REMAINING, 1)
    if needs_reference(activation, slot):
        add_references(value, 1)
    waiter = new_waiter(context, WAIT_REGISTER, activation, slot)
    if not add_waiter(value, waiter):
        give_cell(context, waiter)
        register_resolved(context, activation, slot, value)


@inline
def needs_reference(activation: Address, slot: Address) -> bool:
    """Whether the readers of a register may all be gone before its value is there."""
    flags = load(load(activation + ACTIVATION_FUNCTION) + FUNCTION_FLAGS)
    return load(slot + SLOT_USERS) == 0 or flags & FUNCTION_NONSTRICT != 0


@native
def register_resolved(context: Address, activation: Address, slot: Address, value: Address) -> None:
    """The value that a register waited for is there."""
    trace = load(slot + SLOT_TRACE)
    if trace != 0:
        store_release(trace + TRACE_RESOLVED, now())
        store_release(trace + TRACE_WORKER, load(context + CONTEXT_NUMBER))
    if needs_reference(activation, slot):
        drop_reference(context, value)
    release_users(context, activation, slot)
    finish(context, activation)


@native
def return_value(context: Address, activation: Address, index: int, value: Address) -> None:
    """Hand a result to whoever called, except that RETURN_CALL is put off.  Consumes a reference."""
    kind = load(activation + ACTIVATION_RETURN)
    owner = load(activation + ACTIVATION_CALLER_RECORD)
    if kind == RETURN_ROOT:
        indirect = load(owner + 8 * index)
        run_waiters(context, forward_to(context, indirect, value))
        drop_reference(context, indirect)
    elif kind == RETURN_LOOP:
        if index == load(owner + LOOP_VALUES):
            store(owner + LOOP_CONDITION, value)
        else:
            store(owner + LOOP_TABLE + 8 * index, value)
    elif kind == RETURN_JOIN:
        join_value(context, owner, value)
    else:
        # Not now: `deliver` is what called this.
        caller = load(activation + ACTIVATION_CALLER)
        add_pending(caller)
        delivery = take_block(context, CELL_SIZE)
        store(delivery, caller)
        store(delivery + 8, load(load(owner + RECORD_SLOTS) + 8 * index))
        push_ready(context, delivery | READY_DELIVERY, value)


@native
def deliver_later(context: Address, delivery: Address, value: Address) -> None:
    """The second half of a delivery that was put off."""
    caller = load(delivery)
    slot = load(delivery + 8)
    give_block(context, delivery, CELL_SIZE)
    deliver(context, caller, slot, value)
    finish(context, caller)


@inline
def finish(context: Address, activation: Address) -> None:
    """One kernel or delivery of `activation` is done; after the last one the run loop ends it."""
    if load(activation + ACTIVATION_SHARED) == 0:
        left = load(activation + ACTIVATION_REMAINING) - 1
        store(activation + ACTIVATION_REMAINING, left)
    else:
        left = fetch_add(activation + ACTIVATION_REMAINING, -1) - 1
    if left == 0:
        push_ready(context, activation | READY_END, 0)


@native
def end_activation(context: Address, activation: Address) -> None:
    """Everything of `activation` is done: free it, and finish what waits for its end."""
    if load(load(activation + ACTIVATION_FUNCTION) + FUNCTION_FLAGS) & FUNCTION_TRACED != 0:
        trace_call(context, activation, 1)
    kind = load(activation + ACTIVATION_RETURN)
    owner = load(activation + ACTIVATION_CALLER_RECORD)
    caller = load(activation + ACTIVATION_CALLER)
    if kind == RETURN_LOOP:
        next_iteration(context, owner, activation)
        return
    if kind == RETURN_ROOT:
        end_root(context, owner, activation)
        return
    if kind == RETURN_JOIN:
        leave_join(context, owner)
    free_activation(context, activation)
    if caller != 0:
        finish(context, caller)


@native
def free_activation(context: Address, activation: Address) -> None:
    """Give an activation's memory back."""
    give_block(context, activation, load(load(activation + ACTIVATION_FUNCTION) + FUNCTION_SIZE))


@native
def end_root(context: Address, results: Address, activation: Address) -> None:
    """The outermost activation of a call from outside is done."""
    count = load(load(activation + ACTIVATION_FUNCTION) + FUNCTION_RESULTS)
    request = load(activation + ACTIVATION_REQUEST)
    give_block(context, results, 8 * count + 8)
    free_activation(context, activation)
    # Last: when it was the last of the run, the program may be gone.
    leave_request(context, request)


@native
def leave_request(context: Address, request: Address) -> None:
    """One root or task of `request` is done; tells those who wait when it was the last."""
    queue = load(context + CONTEXT_QUEUE)
    if fetch_add(request + REQUEST_ACTIVE, -1) == 1:
        # The callback sets REQUEST_OPEN to 0 last: the request may be gone when it returns.
        call2(load(load(context + CONTEXT_PROCESS) + PROCESS_REQUEST_DONE), context, request)
        wake_all(queue)


@native
def next_iteration(context: Address, loop: Address, activation: Address) -> None:
    """The body of a loop has finished: run it again, wait for the condition, or end the loop."""
    condition = load(loop + LOOP_CONDITION)
    if condition != 0 and not is_available(condition):
        mark_shared(activation)
        waiter = new_waiter(context, WAIT_END, activation, 0)
        if add_waiter(condition, waiter):
            return
        give_block(context, waiter, CELL_SIZE)
    failed = loop_error(context, loop, activation)
    if failed != 0 or not loop_goes_on(loop):
        end_loop(context, loop, activation, failed)
        return
    if condition != 0:
        drop_reference(context, condition)
        store(loop + LOOP_CONDITION, 0)
    start_iteration(context, loop, activation)


@native
def loop_error(context: Address, loop: Address, activation: Address) -> Address:
    """The error that ends a loop: a cancelled request or a condition in error; else 0."""
    cancelled = load_acquire(load(activation + ACTIVATION_REQUEST) + REQUEST_CANCEL)
    if cancelled != 0:
        return cancelled
    condition = load(loop + LOOP_CONDITION)
    if condition != 0 and load_acquire(condition + VALUE_STATE) & STATE_BITS == ERROR:
        return condition
    return 0


@native
def loop_goes_on(loop: Address) -> bool:
    """Whether another iteration is due; counts repeat down."""
    if load(loop + LOOP_LEFT) < 0:
        return load(resolve(load(loop + LOOP_CONDITION)) + VALUE_PAYLOAD) & 1 != 0
    left = load(loop + LOOP_LEFT) - 1
    store(loop + LOOP_LEFT, left)
    return left > 0


@native
def start_iteration(context: Address, loop: Address, activation: Address) -> None:
    """Fill the body's activation with the loop values and start it."""
    function = load(loop + LOOP_FUNCTION)
    reset_activation(activation, function)
    slots = load(function + FUNCTION_ARGUMENT_TABLE)
    values = load(loop + LOOP_VALUES)
    # A body that returns an argument as it is writes the table while it is filled: read a copy.
    given = loop + LOOP_TABLE + 8 * values
    copy(given, loop + LOOP_TABLE, 8 * values)
    for i in range(values):
        deliver(context, activation, load(slots + 8 * i), load(given + 8 * i))
    begin(context, activation)


@native
def end_loop(context: Address, loop: Address, activation: Address, failed: Address) -> None:
    """Deliver the loop values, or `failed` in the place of each."""
    caller = load(loop + LOOP_CALLER)
    slots = load(load(loop + LOOP_RECORD) + RECORD_SLOTS)
    values = load(loop + LOOP_VALUES)
    condition = load(loop + LOOP_CONDITION)
    for i in range(values):
        value = load(loop + LOOP_TABLE + 8 * i)
        if failed != 0:
            drop_reference(context, value)
            add_references(failed, 1)
            value = failed
        deliver(context, caller, load(slots + 8 * i), value)
    drop_optional(context, condition)
    registers = load(loop + LOOP_RECORD) + RECORD_REGISTERS
    for i in range(values):
        drop_reference(context, load(caller + load(registers + 8 * (i + 1))))
    give_block(context, loop, LOOP_TABLE + 16 * values)
    free_activation(context, activation)
    finish(context, caller)


@native
def join_value(context: Address, join: Address, value: Address) -> None:
    """A block of a parallel loop returned a chain: it counts once it is available."""
    fetch_add(join + JOIN_LEFT, 1)
    waiter = new_waiter(context, WAIT_JOIN, join, 0)
    if not add_waiter(value, waiter):
        give_block(context, waiter, CELL_SIZE)
        join_resolved(context, join, value)


@native
def join_resolved(context: Address, join: Address, value: Address) -> None:
    """A block's chain is there; the first error becomes the loop's.  Consumes a reference."""
    is_error = load_acquire(value + VALUE_STATE) & STATE_BITS == ERROR
    if not is_error or compare_and_swap(join + JOIN_ERROR, 0, value) == 0:
        drop_reference(context, value)
    leave_join(context, join)


@native
def leave_join(context: Address, join: Address) -> None:
    """One part of a parallel loop is done; after the last one the run loop ends the join."""
    if fetch_add(join + JOIN_LEFT, -1) == 1:
        push_ready(context, join | READY_JOIN, 0)


@native
def end_join(context: Address, join: Address) -> None:
    """All blocks are done: deliver the chain, or the first error."""
    caller = load(join + JOIN_CALLER)
    record = load(join + JOIN_RECORD)
    value = load_acquire(join + JOIN_ERROR)
    if value == 0:
        value = new_available(context, TYPE_CHAIN)
    for i in range(load(record + RECORD_ARGUMENTS)):
        drop_reference(context, load(caller + load(record + RECORD_REGISTERS + 8 * i)))
    give_block(context, join, JOIN_SIZE)
    deliver(context, caller, load(load(record + RECORD_SLOTS)), value)
    finish(context, caller)


@native
def queue_waiters(context: Address, waiters: Address) -> None:
    """Put a list of waiters in front of those that this thread is about to run."""
    if waiters != 0:
        last = waiters
        while load(last + WAITER_NEXT) != 0:
            last = load(last + WAITER_NEXT)
        store(last + WAITER_NEXT, load(context + CONTEXT_WAITERS))
        store(context + CONTEXT_WAITERS, waiters)


@native
def run_waiters(context: Address, waiters: Address) -> None:
    """Run a list of waiters.  Waiters that come up meanwhile on this thread join the list.

    So a chain of a million values that forward to each other takes one level of the stack.
    """
    queue_waiters(context, waiters)
    if load(context + CONTEXT_PUBLISHING) != 0:
        return
    store(context + CONTEXT_PUBLISHING, 1)
    while load(context + CONTEXT_WAITERS) != 0:
        waiter = load(context + CONTEXT_WAITERS)
        store(context + CONTEXT_WAITERS, load(waiter + WAITER_NEXT))
        run_waiter(context, waiter)
    store(context + CONTEXT_PUBLISHING, 0)


@native
def run_waiter(context: Address, waiter: Address) -> None:
    """Do what a waiter waited for; frees it."""
    kind = load(waiter + WAITER_KIND)
    first = load(waiter + WAITER_FIRST)
    second = load(waiter + WAITER_SECOND)
    value = load(waiter + WAITER_VALUE)
    third = load(waiter + WAITER_THIRD) if kind == WAIT_TASK else 0
    give_cell(context, waiter)
    if kind == WAIT_REGISTER:
        register_resolved(context, first, second, value)
    elif kind == WAIT_FORWARD:
        queue_waiters(context, point_at(context, first, second))
        drop_reference(context, first)
    elif kind == WAIT_PYTHON:
        call2(load(load(context + CONTEXT_PROCESS) + PROCESS_PYTHON_WAITER), context, first)
    elif kind == WAIT_END:
        push_ready(context, first | READY_END, 0)
    elif kind == WAIT_JOIN:
        join_resolved(context, first, value)
    elif kind == WAIT_LATCH:
        store_release(first + LATCH_PENDING, 0)
        wake_all(load(context + CONTEXT_QUEUE))
        drop_latch(context, first)
    elif kind == WAIT_CALL:
        call2(first, context, second)
    elif kind == WAIT_TASK:
        add_local_task(context, new_task(context, third, first, second, 0))
    elif kind == WAIT_NOTIFY:
        call3(first, context, second, value)


@native
def drop_latch(context: Address, latch: Address) -> None:
    """One of a latch's two owners lets go of it."""
    if fetch_add(latch + LATCH_OWNERS, -1) == 1:
        give_block(context, latch, CELL_SIZE)


@native
def publish(context: Address, value: Address, state: int) -> None:
    """Make `value` available in `state`; its payload is in place.  Runs what waited for it."""
    run_waiters(context, take_waiters(value, state))
