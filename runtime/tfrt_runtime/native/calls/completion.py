"""Completion of an activation: of a call, of a run, of an iteration of a loop, of a block of a join."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    add_waiter,
    drop_optional,
    drop_reference,
    forward_to,
    is_available,
    new_available,
    new_waiter,
    resolve,
)
from tfrt_runtime.native.calls.activation import (
    begin,
    free_activation,
    observe_begin,
    observe_end,
    reset_activation,
    root_size,
)
from tfrt_runtime.native.calls.delivery import deliver
from tfrt_runtime.native.cells import give_block
from tfrt_runtime.native.memory import (
    Address,
    call3,
    compare_and_swap,
    copy,
    exchange,
    fetch_add,
    futex_wake,
    load,
    load_acquire,
    native,
    store,
    store_release,
)
from tfrt_runtime.native.queues.ready import finish, mark_shared
from tfrt_runtime.native.queues.tasks import wake_waiting
from tfrt_runtime.native.queues.waiters import leave_join, run_waiters
from tfrt_runtime.native.stacks import push


@native
def end_activation(context: Address, activation: Address) -> None:
    """Everything of `activation` is done: free it, and finish what waits for its end."""
    if load(activation + at.ACTIVATION_NESTED) & at.ACTIVATION_OBSERVED != 0:
        observe_end(context, activation)
    kind = load(activation + at.ACTIVATION_RETURN)
    owner = load(activation + at.ACTIVATION_CALLER_RECORD)
    caller = load(activation + at.ACTIVATION_CALLER)
    # By now no other thread refers to the activation: its last count was taken here.  What follows may
    # free it, or count in the caller, after which it must not be touched.
    if kind == at.RETURN_LOOP:
        next_iteration(context, owner, activation)
        return
    if kind == at.RETURN_ROOT:
        end_root(context, owner, activation)
        return
    # Before the count that says so: when the last block of a loop ends on another thread, the run may
    # end, and the program with it, which has the size of the activation.
    free_activation(context, activation)
    if kind == at.RETURN_JOIN:
        leave_join(context, owner, 1)
    elif caller != 0:
        finish(context, caller)


@native
def end_root(context: Address, results: Address, activation: Address) -> None:
    """The outermost activation of a call from outside is done."""
    # Read before it is freed.
    size = root_size(load(activation + at.ACTIVATION_FUNCTION))
    request = load(activation + at.ACTIVATION_REQUEST)
    give_block(context, results, size)
    free_activation(context, activation)
    # Last: when it was the last of the run, the program may be gone.
    leave_request(context, request)


@native
def refuse_root(context: Address, function: Address, request: Address, results: Address) -> None:
    """A call from outside does not begin: the error of its run, or that it is cancelled, is each result.

    Takes ownership of the table of indirect results.
    """
    failed = load_acquire(request + at.REQUEST_CANCEL)
    if failed == 0:
        failed = load(request + at.REQUEST_CANCELLED_VALUE)
    for i in range(load(function + at.FUNCTION_RESULTS)):
        indirect = load(results + 8 * i)
        add_references(failed, 1)
        run_waiters(context, forward_to(context, indirect, failed))
        drop_reference(context, indirect)
    give_block(context, results, root_size(function))
    leave_request(context, request)


@native
def leave_request(context: Address, request: Address) -> None:
    """One root or task of `request` is done; wakes waiting threads when it was the last."""
    # Read first: the context stays, but the request may be gone after the count.
    queue = load(context + at.CONTEXT_QUEUE)
    if fetch_add(request + at.REQUEST_ACTIVE, -1) == 1:
        process = load(context + at.CONTEXT_PROCESS)
        # One step: Python, which adds a callback by another swap, is either called here or knows that it is late.
        notify = exchange(request + at.REQUEST_NOTIFY, at.NOTIFY_OVER)
        if notify != 0:
            # The callback sets REQUEST_OPEN to 0 last: the request may be gone when it returns.
            call3(load(process + at.PROCESS_REQUEST_DONE), context, request, notify)
        else:
            # In this order: Python holds the words until it finds them in the stack.
            store_release(request + at.REQUEST_OPEN, 0)
            add_over(process, request)
        wake_waiting(queue)


@native
def add_over(process: Address, request: Address) -> None:
    """Leave a run of which nothing is left to the next thread that has the GIL."""
    push(process + at.PROCESS_OVER, request, at.REQUEST_NEXT)


@native
def next_iteration(context: Address, loop: Address, activation: Address) -> None:
    """The body of a loop has finished: run it again, wait for the condition, or end the loop."""
    condition = load(loop + at.LOOP_CONDITION)
    if condition != 0 and not is_available(condition):
        # The waiter hands the activation to the thread that resolves the condition.
        mark_shared(activation)
        waiter = new_waiter(context, at.WAIT_END, activation, 0)
        if add_waiter(condition, waiter):
            return
        give_block(context, waiter, at.CELL_SIZE)
    failed = loop_error(context, loop, activation)
    if failed != 0 or not loop_goes_on(loop):
        end_loop(context, loop, activation, failed)
        return
    if condition != 0:
        drop_reference(context, condition)
        store(loop + at.LOOP_CONDITION, 0)
    start_iteration(context, loop, activation)


@native
def loop_error(context: Address, loop: Address, activation: Address) -> Address:
    """The error that ends a loop: a cancelled request or a condition in error; else 0."""
    # Cancellation is checked once per iteration, so that endless loops end.
    cancelled = load_acquire(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_CANCEL)
    if cancelled != 0:
        return cancelled
    condition = load(loop + at.LOOP_CONDITION)
    if condition != 0 and load_acquire(condition + at.VALUE_STATE) & at.STATE_BITS == at.ERROR:
        return condition
    return 0


@native
def loop_goes_on(loop: Address) -> bool:
    """Whether another iteration is due; counts repeat down."""
    # Plain words: the thread that ends the body has the loop alone.
    if load(loop + at.LOOP_LEFT) < 0:
        return load(resolve(load(loop + at.LOOP_CONDITION)) + at.VALUE_PAYLOAD) & 1 != 0
    left = load(loop + at.LOOP_LEFT) - 1
    store(loop + at.LOOP_LEFT, left)
    return left > 0


@native
def start_iteration(context: Address, loop: Address, activation: Address) -> None:
    """Fill the body's activation with the loop values and start it."""
    function = load(loop + at.LOOP_FUNCTION)
    # Nothing of the iteration before is left: no other thread refers to the activation any more, so its
    # counters may be plain again.
    store(
        activation + at.ACTIVATION_SHARED,
        load(function + at.FUNCTION_FLAGS) & at.FUNCTION_NONSTRICT,
    )
    reset_activation(activation, function)
    if load(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_OBSERVED) != 0:
        observe_begin(context, activation, load(loop + at.LOOP_CALLER))
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    values = load(loop + at.LOOP_VALUES)
    # A body that returns an argument as it is writes the table while it is filled: read a copy.
    given = loop + at.LOOP_TABLE + 8 * values
    copy(given, loop + at.LOOP_TABLE, 8 * values)
    for i in range(values):
        deliver(context, activation, load(slots + 8 * i), load(given + 8 * i))
    begin(context, activation)


@native
def end_loop(context: Address, loop: Address, activation: Address, failed: Address) -> None:
    """Deliver the loop values, or `failed` in the place of each."""
    caller = load(loop + at.LOOP_CALLER)
    slots = load(load(loop + at.LOOP_RECORD) + at.RECORD_SLOTS)
    values = load(loop + at.LOOP_VALUES)
    condition = load(loop + at.LOOP_CONDITION)
    for i in range(values):
        value = load(loop + at.LOOP_TABLE + 8 * i)
        if failed != 0:
            drop_reference(context, value)
            add_references(failed, 1)
            value = failed
        deliver(context, caller, load(slots + 8 * i), value)
    drop_optional(context, condition)
    # The kernel's own references to its arguments: it held them for as long as the loop.
    registers = load(loop + at.LOOP_RECORD) + at.RECORD_REGISTERS
    for i in range(values):
        drop_reference(context, load(caller + load(registers + 8 * (i + 1))))
    give_block(context, loop, at.LOOP_TABLE + 16 * values)
    free_activation(context, activation)
    finish(context, caller)


@native
def end_join(context: Address, join: Address) -> None:
    """All blocks are done: deliver the chain, or the first error."""
    caller = load(join + at.JOIN_CALLER)
    record = load(join + at.JOIN_RECORD)
    # The last `leave_join` has ordered the blocks' errors before this.
    value = load_acquire(join + at.JOIN_ERROR)
    if value == 0:
        value = new_available(context, at.TYPE_CHAIN)
    for i in range(load(record + at.RECORD_ARGUMENTS)):
        drop_reference(context, load(caller + load(record + at.RECORD_REGISTERS + 8 * i)))
    give_block(context, join, at.JOIN_SIZE)
    deliver(context, caller, load(load(record + at.RECORD_SLOTS)), value)
    finish(context, caller)


@native
def cancel_request(request: Address) -> bool:
    """Cancel a request: the first to do so succeeds.  Ends the sleep of its sleeping kernels."""
    value = load(request + at.REQUEST_CANCELLED_VALUE)
    if compare_and_swap(request + at.REQUEST_CANCEL, 0, value) == 0:
        return False
    store_release(request + at.REQUEST_UNUSUAL, 1)
    futex_wake(request + at.REQUEST_CANCEL, 1 << 30)
    return True
