"""Activations: the state of one call of a function, from its start to its end.

An activation holds the call's registers and, for each kernel, a ready count: how many arguments the
kernel still awaits.  REMAINING counts the kernels that have not finished, plus the pending
deliveries.  When it reaches 0, the run loop ends the activation.  This also finishes the kernel
that made the call, in the caller's activation.

    new_activation   registers and ready counts as in the template; REMAINING = kernels + 1
         |           (the 1 keeps it above 0 until the caller has delivered all arguments)
         |  deliver  each argument into its register; its users' ready counts go down
       begin         entry kernels become ready, constants are delivered, REMAINING - 1
         |
      (run loop)    a ready kernel runs: its results are delivered, REMAINING - 1
         |             result available:   its users' ready counts go down; at 0 the user is ready
         |             result unavailable: mark_shared, REMAINING + 1; once available, as above
         |             result returned:    goes to the caller's register immediately
         v
     REMAINING = 0   exactly one thread sees this, and pushes (activation | READY_END)
         |
    end_activation   RETURN_CALL  freed; the caller's kernel is finished
                     RETURN_ROOT  freed with its table of results; REQUEST_ACTIVE - 1
                     RETURN_JOIN  freed; the join waits for one block fewer
                     RETURN_LOOP  reused for the next iteration, or freed at the loop's end

While ACTIVATION_SHARED is 0, only one thread uses the activation, and its counters are plain words.
That thread calls `mark_shared` before another thread may use the activation.  From then on, every
access to the counters is atomic.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_optional,
    drop_reference,
    forward_to,
    is_available,
    new_available,
    resolve,
    wait_for,
)
from tfrt_runtime.native.calls.delivery import deliver, end_kernel, note_failure, slot_of
from tfrt_runtime.native.calls.in_order import go_on
from tfrt_runtime.native.calls.machine_calls import finish_loop
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.events import is_watched, log_call_end, log_return, watch_activation
from tfrt_runtime.native.memory import (
    Address,
    call3,
    compare_and_swap,
    copy,
    entry,
    exchange,
    fetch_add,
    futex_wake,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    outline,
    push,
    store,
    store_release,
)
from tfrt_runtime.native.queues.tasks import wake_waiting
from tfrt_runtime.native.queues.waiters import (
    finish,
    leave_join,
    mark_shared,
    push_entries,
    run_waiters,
)


@inline
def new_activation(
    context: Address,
    function: Address,
    request: Address,
    return_kind: int,
    caller: Address,
    record: Address,
    nested: int,
) -> Address:
    """Make an activation of `function` whose REMAINING includes 1 for the caller.

    The caller must deliver the arguments and then call `begin`, which subtracts that 1.

    Args:
        return_kind: where the results go, a `RETURN_*` constant.
        nested: ACTIVATION_NESTED of the enclosing activation.

    Return 0 if the activation is large and the memory for it is refused.
    """
    activation = take_block(context, load(function + at.FUNCTION_SIZE))
    if activation == 0:
        return 0
    store(activation + at.ACTIVATION_FUNCTION, function)
    store(activation + at.ACTIVATION_REQUEST, request)
    store(activation + at.ACTIVATION_RETURN, return_kind)
    store(activation + at.ACTIVATION_CALLER, caller)
    store(activation + at.ACTIVATION_CALLER_RECORD, record)
    size = (nested & ~at.ACTIVATION_OBSERVED) + load(function + at.FUNCTION_SIZE)
    store(activation + at.ACTIVATION_NESTED, size)
    # Non-strict kernels need atomic counters. SHARED_ALONE makes this activation's counters atomic,
    # but not its callers' counters.
    is_atomic = load(function + at.FUNCTION_FLAGS) & at.FUNCTION_NONSTRICT != 0
    store(activation + at.ACTIVATION_SHARED, at.SHARED_ALONE if is_atomic else 0)
    reset_activation(activation, function)
    if return_kind != at.RETURN_LOOP:  # `start_iteration` observes each iteration
        parent = load(record + at.JOIN_CALLER) if return_kind == at.RETURN_JOIN else caller
        if return_kind == at.RETURN_ROOT or load(request + at.REQUEST_OBSERVED) != 0:
            observe_begin(context, activation, parent)
    return activation


@native
def reset_activation(activation: Address, function: Address) -> None:
    """Reset registers and counters to their state before the first kernel.

    A shared activation stays shared.
    """
    # One more than the number of kernels: deliveries before `begin` must not end the activation.
    store(activation + at.ACTIVATION_REMAINING, load(function + at.FUNCTION_KERNELS) + 1)
    copy(
        activation + at.ACTIVATION_REGISTERS,
        load(function + at.FUNCTION_TEMPLATE),
        load(function + at.FUNCTION_TEMPLATE_SIZE),
    )


@outline
def observe_begin(context: Address, activation: Address, caller: Address) -> None:
    """Add the kernels of a starting activation or iteration to the run's known kernels.

    If the run is watched, also log the start.
    """
    request = load(activation + at.ACTIVATION_REQUEST)
    nested = load(activation + at.ACTIVATION_NESTED)
    store(activation + at.ACTIVATION_NESTED, nested | at.ACTIVATION_OBSERVED)
    kernels = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_KERNELS)
    fetch_add(request + at.REQUEST_KNOWN, kernels)
    watch = load(request + at.REQUEST_WATCH)
    if watch != 0:
        watch_activation(context, watch, activation, caller)


@outline
def observe_end(context: Address, activation: Address) -> None:
    """Add the short kernels of an ending activation or iteration to the run's decided kernels.

    Call this only for an activation that `observe_begin` has counted.  If the run is watched, also
    log the end.
    """
    nested = load(activation + at.ACTIVATION_NESTED)
    # Clear the flag, because an iteration that awaits its condition ends twice: `next_iteration`
    # adds a waiter that makes the end ready again.
    store(activation + at.ACTIVATION_NESTED, nested & ~at.ACTIVATION_OBSERVED)
    function = load(activation + at.ACTIVATION_FUNCTION)
    request = load(activation + at.ACTIVATION_REQUEST)
    short = load(function + at.FUNCTION_KERNELS) - load(function + at.FUNCTION_HEAVY)
    # All threads write REQUEST_DECIDED, so update it once per call instead of once per kernel.
    fetch_add(request + at.REQUEST_DECIDED, short)
    watch = load(request + at.REQUEST_WATCH)
    if watch != 0:
        log_return(context, watch, activation)
        caller = load(activation + at.ACTIVATION_CALLER)
        if caller != 0:  # RETURN_CALL
            log_call_end(context, caller, load(activation + at.ACTIVATION_CALLER_RECORD))


@inline
def begin(context: Address, activation: Address) -> None:
    """Start an activation: make its entry kernels ready, and deliver its constants.

    Entry kernels await no argument.  They run in program order.  Finally, subtract the 1 that
    `new_activation` has added to REMAINING.
    """
    function = load(activation + at.ACTIVATION_FUNCTION)
    is_in_order = load(function + at.FUNCTION_FLAGS) & at.FUNCTION_IN_ORDER != 0
    if not is_in_order and load_i32(load(function + at.FUNCTION_ENTRY_TABLE)) != 0:
        push_entries(context, activation, load(function + at.FUNCTION_ENTRY_TABLE))
    constants = load(function + at.FUNCTION_CONSTANT_TABLE)
    for i in range(load(function + at.FUNCTION_CONSTANTS)):
        deliver(context, activation, load(constants + 16 * i), load(constants + 16 * i + 8))
    if is_in_order:
        # The function's kernels count as one, which is ready when all arguments are available.
        finish(context, activation)
    finish(context, activation)


@inline
def root_size(function: Address) -> int:
    """Return the size in bytes of a root call's table.

    The table has room for the results, the arguments, and one more word.
    """
    return 8 * (load(function + at.FUNCTION_RESULTS) + load(function + at.FUNCTION_ARGUMENTS)) + 8


@native
def free_activation(context: Address, activation: Address) -> None:
    """Free an activation's memory."""
    give_block(
        context, activation, load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_SIZE)
    )


@native
def end_activation(context: Address, activation: Address) -> None:
    """End a finished activation: free it, and finish the work that waits for it.

    For a sync function, first run the function's remaining kernels; if the function must pause,
    return without ending the activation.
    """
    flags = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_FLAGS)
    if flags & at.FUNCTION_IN_ORDER != 0 and not go_on(context, activation):
        return
    if load(activation + at.ACTIVATION_NESTED) & at.ACTIVATION_OBSERVED != 0:
        observe_end(context, activation)
    kind = load(activation + at.ACTIVATION_RETURN)
    owner = load(activation + at.ACTIVATION_CALLER_RECORD)
    caller = load(activation + at.ACTIVATION_CALLER)
    # REMAINING was 0, so no other thread refers to the activation. Each branch below frees the
    # activation or hands it over, so do not access it afterward.
    if kind == at.RETURN_LOOP:
        next_iteration(context, owner, activation)
        return
    if kind == at.RETURN_ROOT:
        end_root(context, owner, activation)
        return
    # Free the activation before announcing its end: the announcement may let another thread finish
    # the run, and freeing needs the program, which may then be gone.
    free_activation(context, activation)
    if kind == at.RETURN_JOIN:
        leave_join(context, owner, 1)
    elif caller != 0:
        finish(context, caller)


@native
def end_root(context: Address, results: Address, activation: Address) -> None:
    """End a root call: free its activation and its table `results`."""
    # Read the size before the activation is freed.
    size = root_size(load(activation + at.ACTIVATION_FUNCTION))
    request = load(activation + at.ACTIVATION_REQUEST)
    give_block(context, results, size)
    free_activation(context, activation)
    # Do this last: if nothing else of the run is active, the program may be gone afterward.
    leave_request(context, request)


@native
def refuse_root(context: Address, function: Address, request: Address, results: Address) -> None:
    """Refuse a root call: resolve each result to the run's error or cancellation.

    Take over the table `results`, and free it.
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


@entry
def leave_request(context: Address, request: Address) -> None:
    """Count one root call or task of a request as finished.

    If no other part of the request is active, report the end of the run, and wake the threads that
    wait for it.
    """
    # Read the queue from the context: after the decrement, the request may be gone.
    queue = load(context + at.CONTEXT_QUEUE)
    if fetch_add(request + at.REQUEST_ACTIVE, -1) == 1:
        process = load(context + at.CONTEXT_PROCESS)
        # One atomic exchange: Python adds its callback with a swap of the same word, so either the
        # callback is called here, or Python sees NOTIFY_OVER.
        notify = exchange(request + at.REQUEST_NOTIFY, at.NOTIFY_OVER)
        if notify != 0:
            # The callback sets REQUEST_OPEN to 0 as its last step. When the callback returns, the
            # request may be gone.
            call3(load(process + at.PROCESS_REQUEST_DONE), context, request, notify)
        else:
            # Clear REQUEST_OPEN first: Python may free the request as soon as it is in the list.
            store_release(request + at.REQUEST_OPEN, 0)
            add_over(process, request)
        wake_waiting(queue)


@native
def add_over(process: Address, request: Address) -> None:
    """Add a finished run to the list that the next thread to hold the GIL empties."""
    push(process + at.PROCESS_OVER, request, at.REQUEST_NEXT)


@native
def next_iteration(context: Address, loop: Address, activation: Address) -> None:
    """After an iteration, start the next one, wait for the loop's condition, or end the loop."""
    condition = load(loop + at.LOOP_CONDITION)
    if condition != 0 and not is_available(condition):
        # The thread that resolves the condition takes over the activation.
        mark_shared(activation)
        if wait_for(context, condition, at.WAIT_END, activation, 0):
            return
    failed = loop_error(context, loop, activation)
    if failed != 0 or not loop_goes_on(loop):
        end_loop(context, loop, activation, failed)
        return
    if condition != 0:
        drop_reference(context, condition)
        store(loop + at.LOOP_CONDITION, 0)
    if load(load(loop + at.LOOP_FUNCTION) + at.FUNCTION_MACHINE) != 0 and finish_loop(
        context, loop, load(activation + at.ACTIVATION_REQUEST)
    ):
        end_loop(context, loop, activation, 0)
        return
    start_iteration(context, loop, activation)


@native
def loop_error(context: Address, loop: Address, activation: Address) -> Address:
    """Return the error that ends a loop, or 0.

    The error is the request's cancellation or the error of the loop's condition.
    """
    # Check in each iteration, so that endless loops can be stopped.
    request = load(activation + at.ACTIVATION_REQUEST)
    cancelled = load_acquire(request + at.REQUEST_CANCEL)
    if cancelled != 0:
        # The report of a run that took too long names REQUEST_LOOP. Inner loops end first, so the
        # first loop to get here is the innermost.
        compare_and_swap(request + at.REQUEST_LOOP, 0, load(loop + at.LOOP_RECORD))
        return cancelled
    condition = load(loop + at.LOOP_CONDITION)
    if condition != 0 and load_acquire(condition + at.VALUE_STATE) & at.STATE_BITS == at.ERROR:
        return condition
    return 0


@native
def loop_goes_on(loop: Address) -> bool:
    """Return whether the loop has another iteration.

    For a `repeat` loop, also count down the iterations.
    """
    # Plain accesses suffice: only the thread that ends the body uses the loop.
    if load(loop + at.LOOP_LEFT) < 0:
        return load(resolve(load(loop + at.LOOP_CONDITION)) + at.VALUE_PAYLOAD) & 1 != 0
    left = load(loop + at.LOOP_LEFT) - 1
    store(loop + at.LOOP_LEFT, left)
    return left > 0


@native
def start_iteration(context: Address, loop: Address, activation: Address) -> None:
    """Fill the body's activation with the loop values, and start it."""
    function = load(loop + at.LOOP_FUNCTION)
    # The previous iteration has finished, so no other thread refers to the activation, and its
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
    # Read from a copy: a body that returns an argument unchanged writes LOOP_TABLE during these
    # deliveries.
    given = loop + at.LOOP_TABLE + 8 * values
    copy(given, loop + at.LOOP_TABLE, 8 * values)
    for i in range(values):
        deliver(context, activation, load(slots + 8 * i), load(given + 8 * i))
    begin(context, activation)


@native
def end_loop(context: Address, loop: Address, activation: Address, failed: Address) -> None:
    """End a loop: deliver the loop values, or `failed` for each of them if it is not 0."""
    caller = load(loop + at.LOOP_CALLER)
    record = load(loop + at.LOOP_RECORD)
    values = load(loop + at.LOOP_VALUES)
    condition = load(loop + at.LOOP_CONDITION)
    for i in range(values):
        value = load(loop + at.LOOP_TABLE + 8 * i)
        if failed != 0:
            drop_reference(context, value)
            add_references(failed, 1)
            value = failed
        deliver(context, caller, slot_of(record, i), value)
    if failed != 0:
        note_failure(caller, failed)
    drop_optional(context, condition)
    # The loop's kernel has kept its references to its arguments until now.
    for i in range(values):
        # The + 4 skips argument 0, the count or condition, which was dropped when the loop started.
        drop_reference(context, load(caller + load_i32(record + at.RECORD_REGISTERS + 4 * i + 4)))
    if is_watched(caller):
        log_call_end(context, caller, record)
    give_block(context, loop, at.LOOP_TABLE + 16 * values)
    free_activation(context, activation)
    finish(context, caller)


@native
def end_join(context: Address, join: Address) -> None:
    """End a join whose blocks have all ended: deliver its chain, or the first error of a block."""
    caller = load(join + at.JOIN_CALLER)
    record = load(join + at.JOIN_RECORD)
    # The blocks stored their errors before they called `leave_join`.
    value = load_acquire(join + at.JOIN_ERROR)
    if value == 0:
        value = new_available(context, at.TYPE_CHAIN)
    give_block(context, join, at.JOIN_SIZE)
    end_kernel(context, caller, record, value)


@native
def cancel_request(request: Address) -> bool:
    """Cancel a request; return False if it was already cancelled.

    Also wake the request's sleeping kernels.
    """
    value = load(request + at.REQUEST_CANCELLED_VALUE)
    if compare_and_swap(request + at.REQUEST_CANCEL, 0, value) == 0:
        return False
    store_release(request + at.REQUEST_UNUSUAL, 1)
    futex_wake(request + at.REQUEST_CANCEL, 1 << 30)
    return True
