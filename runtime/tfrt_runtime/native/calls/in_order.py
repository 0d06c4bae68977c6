"""Sync functions: their kernels run one after another, in program order.

A sync function has records and registers like any other function, but no ready counts, because its
kernels run in program order.  The last two words of its activation are the position and the error
that ends the function.  The position is 0 before the first kernel, a record while that record's
control kernel runs, and a record + RESUMES if that record is next.

    begin                every argument is available, so the last count is taken, as at the end
         |               of any activation; `go_on` finds that the function has not run yet
       go_on <---------- a control kernel has finished: its call or loop took the last count
         |    <--------- a slice is over, and other work has had a chance to run
    end_activation       all kernels have run, or one has failed; the results are delivered

The first error ends the function and becomes each of its results, even results that already exist.
An error must be found even in a register that no kernel uses.  Therefore, `decode` gives the
registers of arguments and of control kernels' results one reference more than they have users.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_optional,
    drop_reference,
    multiply_reference,
    resolve,
    state_of,
)
from tfrt_runtime.native.calls.delivery import (
    deliver,
    drop_arguments,
    note_failure,
    position_of,
    return_value,
    slot_of,
)
from tfrt_runtime.native.calls.kernel_calls import (
    grow_frame,
    log_begin,
    log_end,
    memory_error,
    report_error,
    share_rest,
    stage_arguments,
)
from tfrt_runtime.native.events import log_state, log_value
from tfrt_runtime.native.memory import (
    Address,
    call2,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    outline,
    store,
)
from tfrt_runtime.native.queues.sharing import enqueue_entry, give_way, share_when_idle
from tfrt_runtime.native.queues.waiters import push_ready

SLICE = 1024
"""The number of kernels between two checks for other work that needs the thread: about 20 us."""
HEAVY_WEIGHT = 64
"""A heavy kernel counts as this many ordinary kernels."""


@inline
def following(record: Address) -> Address:
    """Return the address of the record that follows `record` in memory."""
    halves = load_i32(record + at.RECORD_ARGUMENTS) + load_i32(record + at.RECORD_RESULTS)
    # `decoding.plan_kernels` pads records to whole words and leaves no gaps between them.
    return record + at.RECORD_REGISTERS + (4 * halves + 4 & -8)


@outline
def go_on(context: Address, activation: Address) -> bool:
    """Run a sync function's kernels until the function ends or must pause.

    The function pauses to await a control kernel, or to let other work run.  Return True if the
    function has ended and its results are delivered.
    """
    function = load(activation + at.ACTIVATION_FUNCTION)
    position = position_of(activation)
    table = load(function + at.FUNCTION_ENTRY_TABLE)
    record = load(position)
    failed = load(position + 8)
    if record == 0:
        record = load(table)
        failed = argument_error(activation, function)
    elif record & at.RESUMES != 0:
        record -= at.RESUMES
        if must_leave(context):
            # Continue as a task, not as a ready entry: this thread would run a ready entry
            # immediately, so a long function would keep the thread past its deadline.
            enqueue_entry(context, activation | at.READY_END, 0)
            return False
    else:
        failed = take_results(context, activation, record, failed)
        record = following(record)
    request = load(activation + at.ACTIVATION_REQUEST)
    watch = 0
    # One branch covers runs that are neither cancelled nor watched.
    if load_acquire(request + at.REQUEST_UNUSUAL) != 0:
        watch = load(request + at.REQUEST_WATCH)
        failed = cancellation(request, failed)
    end = load(table + 8)
    left = SLICE
    # The loop does not check for a cancellation at each short kernel. It notices one at the next
    # heavy kernel, control kernel, or slice.
    while failed == 0 and record != end:
        if left <= 0:
            store(position, record + at.RESUMES)
            give_way(context)
            share_when_idle(context)
            push_ready(context, activation | at.READY_END, 0)
            return False
        flags = load_i32(record + at.RECORD_FLAGS)
        if flags & (at.KERNEL_HEAVY | at.KERNEL_WIDE) != 0:
            left -= HEAVY_WEIGHT
            failed = get_ready(context, record, request)
        if flags & at.KERNEL_CONTROL != 0 and failed == 0:
            # Store the position first: if the kernel starts a task, another thread may finish the
            # kernel and call `go_on` before `start_kernel` returns.
            store(position, record)
            start_kernel(context, activation, record, request, watch)
            return False
        # If `get_ready` has failed, `record` stays the same, so `skip_kernels` drops this kernel's
        # arguments, too.
        if failed == 0:
            left -= 1
            failed = run_kernel(context, activation, record, request, watch)
            record = following(record)
    skip_kernels(context, activation, record, end)
    finish_function(context, activation, function, failed)
    return True


@native
def argument_error(activation: Address, function: Address) -> Address:
    """Return the last argument that is an error, with a new reference, or 0."""
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    failed = 0
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        value = load(activation + load_i32(load(slots + 8 * i) + at.SLOT_REGISTER))
        if load_acquire(value + at.VALUE_STATE) & at.STATE_BITS == at.ERROR:
            # If several arguments are errors, the last one counts, as in `stage_arguments`.
            failed = value
    if failed != 0:
        add_references(failed, 1)
    return failed


@native
def take_results(
    context: Address, activation: Address, record: Address, failed: Address
) -> Address:
    """Take over the results of a finished control kernel; return the function's error, or 0.

    The error is `failed` if that is not 0, otherwise the first error among the results, with a new
    reference.  Drop one reference to each result.
    """
    for i in range(load_i32(record + at.RECORD_RESULTS)):
        value = load(activation + load_i32(slot_of(record, i) + at.SLOT_REGISTER))
        if failed == 0:
            failed = result_error(context, record, value)
        # This extra reference (see the module's docstring) has kept the result alive until this
        # check, even if no kernel uses it.
        drop_reference(context, value)
    return failed


@native
def cancellation(request: Address, failed: Address) -> Address:
    """Return `failed` if it is not 0, otherwise the error of the request's cancellation, or 0.

    The caller gets a new reference to the cancellation's error, but not to `failed`.
    """
    if failed == 0:
        failed = load_acquire(request + at.REQUEST_CANCEL)
        if failed != 0:
            add_references(failed, 1)
    return failed


@native
def must_leave(context: Address) -> bool:
    """Return whether this thread must return to Python now."""
    deadline = load(context + at.CONTEXT_DEADLINE)
    return deadline != 0 and now() >= deadline


@outline
def get_ready(context: Address, record: Address, request: Address) -> Address:
    """Prepare for a kernel that may take long or needs a larger frame.

    Return an error if the kernel must not run, otherwise 0.  The caller owns a reference to the
    error.
    """
    failed = cancellation(request, 0)
    needed = load_i32(record + at.RECORD_ARGUMENTS) + load_i32(record + at.RECORD_RESULTS)
    if failed != 0:
        return failed
    if needed > load(context + at.CONTEXT_FRAME_LIMIT) and not grow_frame(context, needed):
        return memory_error(context, request, record)
    flags = load_i32(record + at.RECORD_FLAGS)
    if flags & at.KERNEL_HEAVY != 0 and flags & at.KERNEL_MEASURED == 0:
        share_rest(context)
    return 0


@inline
def start_kernel(
    context: Address, activation: Address, record: Address, request: Address, watch: Address
) -> None:
    """Put a kernel's arguments into the frame, and call the kernel.

    Also set REMAINING to 1.  A control kernel subtracts this 1 when it finishes.
    """
    # Ignore the result: no argument can be an error, because the first error ends the function.
    stage_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    if watch != 0:
        log_begin(context, watch, activation, record)
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_ACTIVATION, activation)
    store(context + at.CONTEXT_RECORD, record)
    # A plain store suffices even in a shared activation: nothing else of it is pending now.
    store(activation + at.ACTIVATION_REMAINING, 1)
    call2(load(record + at.RECORD_KERNEL), context, record)


@inline
def run_kernel(
    context: Address, activation: Address, record: Address, request: Address, watch: Address
) -> Address:
    """Run a kernel and store its results in registers; return its error, or 0.

    The caller owns a reference to the error.
    """
    results = load_i32(record + at.RECORD_RESULTS)
    frame = load(context + at.CONTEXT_RESULTS)
    for i in range(results):
        store(frame + 8 * i, 0)
    start_kernel(context, activation, record, request, watch)
    if watch != 0:
        log_end(context, watch, activation, record)
    failed = 0
    for i in range(results):
        if failed == 0:
            failed = result_error(context, record, load(frame + 8 * i))
    # Start a second loop: if any result is an error, `keep_result` must also drop the results
    # before it.
    for i in range(results):
        keep_result(context, activation, slot_of(record, i), load(frame + 8 * i), failed, watch)
    drop_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    return failed


@inline
def result_error(context: Address, record: Address, value: Address) -> Address:
    """Return the error of a kernel's result, or 0 if the result is valid.

    The caller owns a reference to the error.
    """
    if value != 0 and load_acquire(value + at.VALUE_STATE) == at.CONCRETE:
        return 0
    return unusual_result(context, record, value)


@outline
def unusual_result(context: Address, record: Address, value: Address) -> Address:
    """Return what `result_error` does, for a result that is not a plain available value."""
    if value == 0:
        return report_error(context, record, at.MESSAGE_NO_RESULT)
    state = state_of(value)
    if state == at.ERROR:
        failed = resolve(value)
        add_references(failed, 1)
        return failed
    if state != at.CONCRETE:
        return report_error(context, record, at.MESSAGE_NOT_READY)
    # Another thread has made the value available since `result_error` checked it.
    return 0


@inline
def keep_result(
    context: Address,
    activation: Address,
    slot: Address,
    value: Address,
    failed: Address,
    watch: Address,
) -> None:
    """Store a kernel's result in its register; drop it if it is unused or if the kernel failed.

    `failed` is the error of a failed kernel, or 0.  Take over a reference to `value`.
    """
    if watch != 0 and failed != 0:
        log_state(context, watch, activation, slot, failed, at.LOG_ERROR)
    elif watch != 0:
        log_value(context, watch, activation, slot, value)
    references = load_i32(slot + at.SLOT_REFERENCES)
    if references == 0 or failed != 0:
        drop_optional(context, value)
        return
    if references > 1:
        multiply_reference(value, references - 1)
    store(activation + load_i32(slot + at.SLOT_REGISTER), value)


@native
def skip_kernels(context: Address, activation: Address, record: Address, end: Address) -> None:
    """Drop the references that the kernels from `record` to `end` would have dropped."""
    while record != end:
        for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
            register = load_i32(record + at.RECORD_REGISTERS + 4 * i)
            # A register is 0 if a skipped kernel should have written it.
            drop_optional(context, load(activation + register))
        record = following(record)


@native
def finish_function(
    context: Address, activation: Address, function: Address, failed: Address
) -> None:
    """Deliver the results of a function, or `failed` for each of them if it is not 0.

    Take over a reference to `failed`.
    """
    # These are the extra references to arguments that the module's docstring describes.
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        register = load_i32(load(slots + 8 * i) + at.SLOT_REGISTER)
        drop_reference(context, load(activation + register))
    kind = load(activation + at.ACTIVATION_RETURN)
    owner = load(activation + at.ACTIVATION_CALLER_RECORD)
    caller = load(activation + at.ACTIVATION_CALLER)
    registers = load(function + at.FUNCTION_ENTRY_TABLE) + 16
    for i in range(load(function + at.FUNCTION_RESULTS)):
        value = load(activation + load(registers + 8 * i))
        if failed != 0:
            drop_optional(context, value)
            add_references(failed, 1)
            value = failed
        # Deliver directly. `return_value` postpones deliveries to avoid recursion, but this
        # function runs from the run loop, not from a delivery.
        if kind == at.RETURN_CALL:
            deliver(context, caller, slot_of(owner, i), value)
        else:
            return_value(context, activation, i, value)
    if failed == 0:
        return
    if kind == at.RETURN_CALL:
        note_failure(caller, failed)
    elif kind == at.RETURN_LOOP and load(owner + at.LOOP_CONDITION) == 0:
        # A counted loop has no condition, so storing the error there ends the loop.
        store(owner + at.LOOP_CONDITION, failed)
        return
    drop_reference(context, failed)
