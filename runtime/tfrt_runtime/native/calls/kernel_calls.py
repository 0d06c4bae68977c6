"""Run one kernel: its frame, its errors, and its results.

A kernel runs after its ready count has reached 0.  By then, its arguments are available and in
their registers.  If an argument is an error or the request is cancelled, the kernel is skipped, and
each of its results becomes that error or the cancellation's error.

A kernel finds its frame in the context.  CONTEXT_ARGUMENTS points to its arguments, which are
concrete values.  CONTEXT_RESULTS points to one word per result, which is 0 until the kernel sets
it.  A kernel borrows its arguments, and hands over one reference to each result.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    is_available,
    is_plain,
    resolve,
)
from tfrt_runtime.native.calls.delivery import (
    deliver_plain,
    drop_arguments,
    note_failure,
    peek_register,
    slot_of,
)
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.events import (
    is_disturbed,
    log_kernel,
    log_state,
    log_value,
    slow_down,
    watch_of,
)
from tfrt_runtime.native.memory import (
    Address,
    call2,
    call3,
    fetch_add,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    outline,
    store,
    store_i32,
)
from tfrt_runtime.native.queues.blocking_pool import add_blocking_task
from tfrt_runtime.native.queues.sharing import offer_tasks, share_ready
from tfrt_runtime.native.queues.tasks import free_task, new_task
from tfrt_runtime.native.queues.waiters import finish, mark_shared, push_ready

QUICK_NS = 1_000_000
"""A Python function that takes less time than this may run on a waiting thread.

Waking a worker instead would take a tenth of this time.
"""


@inline
def run_small_kernel(context: Address, activation: Address, record: Address) -> None:
    """Run a kernel as `run_kernel` does, but faster; the record must have the flag KERNEL_SMALL."""
    left = load(activation + load_i32(record + at.RECORD_REGISTERS))
    right = load(activation + load_i32(record + at.RECORD_REGISTERS + 4))
    request = load(activation + at.ACTIVATION_REQUEST)
    if not are_plain(request, left, right):
        run_kernel(context, activation, record)
        return
    arguments = load(context + at.CONTEXT_ARGUMENTS)
    results = load(context + at.CONTEXT_RESULTS)
    store(arguments, left)
    store(arguments + 8, right)
    # 0 marks a result that the kernel has not set.
    store(results, 0)
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_ACTIVATION, activation)
    store(context + at.CONTEXT_RECORD, record)
    call2(load(record + at.RECORD_KERNEL), context, record)
    drop_reference(context, left)
    drop_reference(context, right)
    value = load(results)
    if value == 0:
        value = report_error(context, record, at.MESSAGE_NO_RESULT)
    deliver_plain(context, activation, slot_of(record, 0), value)
    finish(context, activation)


@inline
def are_plain(request: Address, left: Address, right: Address) -> bool:
    """Return whether a small kernel can use two arguments directly.

    It can if both are concrete values and not errors, and the request is neither cancelled nor
    watched.
    """
    if load_acquire(request + at.REQUEST_UNUSUAL) == 0:
        return True
    return not is_disturbed(request) and is_plain(left) and is_plain(right)


@inline
def run_kernel(context: Address, activation: Address, record: Address) -> None:
    """Run or skip one ready kernel, and deliver its results."""
    flags = load_i32(record + at.RECORD_FLAGS)
    unusual = at.KERNEL_NONSTRICT | at.KERNEL_RAW | at.KERNEL_BLOCKING | at.KERNEL_WIDE
    if flags & (unusual | at.KERNEL_UNKNOWN) != 0:
        run_unusual_kernel(context, activation, record, False)
        return
    arguments = load_i32(record + at.RECORD_ARGUMENTS)
    request = load(activation + at.ACTIVATION_REQUEST)
    watch = failed = 0
    # One check covers cancelled and watched runs, errors, and forwarding values.
    if load_acquire(request + at.REQUEST_UNUSUAL) == 0:
        stage_plain(context, activation, record, arguments)
    else:
        watch = load(request + at.REQUEST_WATCH)
        failed = stage_arguments(context, activation, record, arguments)
        if failed == 0:
            # Acquire: another thread made the error value when it cancelled the run.
            failed = load_acquire(request + at.REQUEST_CANCEL)
    if failed != 0:
        fail_kernel(context, activation, record, failed)
    else:
        store(context + at.CONTEXT_REQUEST, request)
        call_kernel(context, activation, record, flags, watch)


@outline
def run_unusual_kernel(
    context: Address, activation: Address, record: Address, may_block: bool
) -> None:
    """Run a kernel of any kind, as `run_kernel` does.

    `may_block` is True on the threads of the blocking pool, where blocking kernels run.  If it is
    False, hand a blocking kernel over to the pool.
    """
    flags = load_i32(record + at.RECORD_FLAGS)
    if flags & at.KERNEL_UNKNOWN != 0 and load(context + at.CONTEXT_LEAVES) != 0:
        # Push the kernel back. This thread returns to `python_waits.work_here`, hands over all its
        # ready work, and sleeps until a worker has run this kernel.
        store(context + at.CONTEXT_LEAVES, at.HAS_LEFT)
        push_ready(context, activation, record)
        return
    arguments = load_i32(record + at.RECORD_ARGUMENTS)
    needed = arguments + load_i32(record + at.RECORD_RESULTS)
    if needed > load(context + at.CONTEXT_FRAME_LIMIT) and not grow_frame(context, needed):
        fail_without_memory(context, activation, record)
        return
    request = load(activation + at.ACTIVATION_REQUEST)
    failed = 0
    if flags & (at.KERNEL_NONSTRICT | at.KERNEL_RAW) != 0:
        failed = stage_raw(context, activation, record, arguments)
    elif load_acquire(request + at.REQUEST_UNUSUAL) != 0:
        failed = stage_arguments(context, activation, record, arguments)
    else:
        stage_plain(context, activation, record, arguments)
    if failed == 0:
        failed = load_acquire(request + at.REQUEST_CANCEL)
    if failed != 0:
        fail_kernel(context, activation, record, failed)
        return
    store(context + at.CONTEXT_REQUEST, request)
    # While schedules are explored, Python chooses each step, so blocking kernels run here, too: a
    # thread of the pool would run them at any time.
    is_chosen = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0
    if flags & at.KERNEL_BLOCKING != 0 and not may_block and not is_chosen:
        hand_to_pool(context, activation, record)
    else:
        call_kernel(context, activation, record, flags, load(request + at.REQUEST_WATCH))


@outline
def call_unknown(context: Address, record: Address) -> None:
    """Call a kernel; if it is quick, clear the record's flag KERNEL_UNKNOWN."""
    began = now()
    call2(load(record + at.RECORD_KERNEL), context, record)
    if now() - began < QUICK_NS:
        # A plain store suffices: all threads write the same value, and a thread that reads the old
        # value only measures again.
        store_i32(record + at.RECORD_FLAGS, load_i32(record + at.RECORD_FLAGS) & ~at.KERNEL_UNKNOWN)


@inline
def call_kernel(
    context: Address, activation: Address, record: Address, flags: int, watch: Address
) -> None:
    """Call a kernel whose arguments are in the frame, and deliver its results.

    `watch` is the watch of the kernel's run, or 0.
    """
    if flags & at.KERNEL_HEAVY != 0 and flags & at.KERNEL_MEASURED == 0:
        share_rest(context)
    if watch != 0:
        log_begin(context, watch, activation, record)
    store(context + at.CONTEXT_ACTIVATION, activation)
    store(context + at.CONTEXT_RECORD, record)
    results = load_i32(record + at.RECORD_RESULTS)
    frame = load(context + at.CONTEXT_RESULTS)
    for i in range(results):
        store(frame + 8 * i, 0)
    if flags & at.KERNEL_UNKNOWN != 0:
        call_unknown(context, record)
    else:
        call2(load(record + at.RECORD_KERNEL), context, record)
    if flags & at.KERNEL_CONTROL != 0:
        # A control kernel delivers its results itself, when its call or loop ends. The activation
        # may already be gone.
        return
    if watch != 0:
        # `log_end` may slow the kernel down, so deliver the results only afterward.
        log_end(context, watch, activation, record)
    drop_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    for i in range(results):
        value = load(frame + 8 * i)
        if value == 0:
            value = report_error(context, record, at.MESSAGE_NO_RESULT)
        if watch != 0:
            log_value(context, watch, activation, slot_of(record, i), value)
        deliver_plain(context, activation, slot_of(record, i), value)
    # Count before `finish`: afterward, another thread may end the activation and the run.
    count_heavy(activation, flags)
    finish(context, activation)


@outline
def log_begin(context: Address, watch: Address, activation: Address, record: Address) -> None:
    """Log that a watched run's kernel starts."""
    if load(watch + at.WATCH_SLOW) != 0:
        store(context + at.CONTEXT_STARTED, now())
    log_kernel(context, watch, activation, record, at.LOG_BEGIN)


@outline
def log_end(context: Address, watch: Address, activation: Address, record: Address) -> None:
    """Log that a watched run's kernel has returned.

    If the kernel's first result is available, do nothing, because its log entry shows the return.
    """
    if load(watch + at.WATCH_SLOW) != 0:
        request = load(activation + at.ACTIVATION_REQUEST)
        slow_down(watch, request, load(context + at.CONTEXT_STARTED))
    results = load_i32(record + at.RECORD_RESULTS)
    frame = load(context + at.CONTEXT_RESULTS)
    value = load(frame) if results != 0 else 0
    if value == 0 or not is_available(value):
        log_kernel(context, watch, activation, record, at.LOG_END)


@outline
def share_rest(context: Address) -> None:
    """Share this thread's ready kernels and tasks with other threads before a long kernel."""
    share_ready(context)
    offer_tasks(context)


@inline
def stage_plain(context: Address, activation: Address, record: Address, count: int) -> None:
    """Put a kernel's arguments into the frame unchecked; REQUEST_UNUSUAL must be 0."""
    frame = load(context + at.CONTEXT_ARGUMENTS)
    for i in range(count):
        register = load_i32(record + at.RECORD_REGISTERS + 4 * i)
        store(frame + 8 * i, load(activation + register))


@inline
def stage_arguments(context: Address, activation: Address, record: Address, count: int) -> Address:
    """Put a kernel's arguments into the frame; return the last error among them, or 0."""
    frame = load(context + at.CONTEXT_ARGUMENTS)
    failed = 0
    # Go from last to first: a kernel that reads thousands of arguments then finds the first ones in
    # the cache.
    for i in range(count - 1, -1, -1):
        value = load(activation + load_i32(record + at.RECORD_REGISTERS + 4 * i))
        if load_acquire(value + at.VALUE_STATE) & at.STATE_BITS == at.ERROR and failed == 0:
            failed = value
        store(frame + 8 * i, resolve(value))
    return failed


@native
def stage_raw(context: Address, activation: Address, record: Address, count: int) -> Address:
    """Put the contents of a kernel's registers into the frame without resolving them.

    The first arguments of a non-strict kernel may be strict; `stage_arguments` stages these.  The
    registers of its other arguments may still be empty.  Return the last error among the strict
    arguments, or 0.
    """
    frame = load(context + at.CONTEXT_ARGUMENTS)
    # `peek_register` fills an empty register with an indirect value.
    waits = load_i32(record + at.RECORD_WAITS)
    strict = 0
    if waits != 0:
        strict = load(record + waits)
    for i in range(strict, count):
        register = load_i32(record + at.RECORD_REGISTERS + 4 * i)
        # A raw kernel that is strict has no RECORD_WAITS, and its registers are filled.
        if waits != 0:
            references = load(record + waits + 8 + 8 * i)
            value = peek_register(context, activation, register, references)
        else:
            value = load(activation + register)
        store(frame + 8 * i, value)
    return stage_arguments(context, activation, record, strict)


@native
def grow_frame(context: Address, needed: int) -> bool:
    """Make room for `needed` arguments and the same number of results.

    Return False if out of memory.
    """
    # The thread keeps the larger frame, because such a kernel usually runs again.
    frame = take_block(context, 16 * needed)
    if frame == 0:
        return False
    # Free the old frame only after taking the new one: if memory is refused, the thread keeps it.
    former = load(context + at.CONTEXT_ARGUMENTS)
    give_block(context, former, 16 * load(context + at.CONTEXT_FRAME_LIMIT))
    store(context + at.CONTEXT_ARGUMENTS, frame)
    store(context + at.CONTEXT_RESULTS, frame + 8 * needed)
    store(context + at.CONTEXT_FRAME_LIMIT, needed)
    return True


@outline
def fail_without_memory(context: Address, activation: Address, record: Address) -> None:
    """Skip a kernel whose frame was refused memory: each result becomes the run's error."""
    failed = memory_error(context, load(activation + at.ACTIVATION_REQUEST), record)
    fail_kernel(context, activation, record, failed)
    drop_reference(context, failed)


@outline
def memory_error(context: Address, request: Address, record: Address) -> Address:
    """Return the error of a run that was refused memory, with a new reference.

    If the memory would have exceeded the budget, the run is already cancelled with an error.
    Otherwise, the system is out of memory; report an error.
    """
    failed = load_acquire(request + at.REQUEST_CANCEL)
    if failed != 0:
        add_references(failed, 1)
        return failed
    # Python reports the error to the run that the context names.
    store(context + at.CONTEXT_REQUEST, request)
    return report_error(context, record, at.MESSAGE_NO_MEMORY)


@outline
def report_error(context: Address, record: Address, message: int) -> Address:
    """Report the native message with number `message`; return an error value with one reference."""
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_REPORT_ERROR)
    return call3(callback, context, record, message)


@outline
def fail_kernel(context: Address, activation: Address, record: Address, failed: Address) -> None:
    """Skip a kernel: drop its arguments, and deliver the error `failed` as each of its results."""
    results = load_i32(record + at.RECORD_RESULTS)
    watch = watch_of(activation)
    if watch != 0:
        log_failed(context, watch, activation, record, failed)
    # Keep one reference here: `failed` may be an argument whose last reference is dropped next.
    add_references(failed, results + 1)
    drop_arguments(context, activation, record, load_i32(record + at.RECORD_ARGUMENTS))
    for i in range(results):
        # Not `deliver`: `log_failed` has already logged the results.
        deliver_plain(context, activation, slot_of(record, i), failed)
    note_failure(activation, failed)
    drop_reference(context, failed)
    count_heavy(activation, load_i32(record + at.RECORD_FLAGS))
    finish(context, activation)


@outline
def fail_kernel_with(context: Address, activation: Address, record: Address, message: int) -> None:
    """Skip a kernel: report `message` as an error, which becomes each of the kernel's results."""
    store(context + at.CONTEXT_REQUEST, load(activation + at.ACTIVATION_REQUEST))
    store(context + at.CONTEXT_ACTIVATION, activation)
    failed = report_error(context, record, message)
    fail_kernel(context, activation, record, failed)
    drop_reference(context, failed)


@inline
def count_heavy(activation: Address, flags: int) -> None:
    """Count a heavy kernel as decided after it has run or been skipped; ignore other kernels.

    `observe_end` counts a call's other kernels when the call ends.
    """
    # Control kernels are never counted here: after such a kernel, the activation may be gone.
    is_heavy = flags & (at.KERNEL_HEAVY | at.KERNEL_CONTROL) == at.KERNEL_HEAVY
    if is_heavy and load(activation + at.ACTIVATION_NESTED) & at.ACTIVATION_OBSERVED != 0:
        fetch_add(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_DECIDED, 1)


@outline
def log_failed(
    context: Address, watch: Address, activation: Address, record: Address, failed: Address
) -> None:
    """Log that a watched run's kernel is skipped.

    The cause is an argument that is an error, or the run's cancellation.
    """
    kind = at.LOG_SKIPPED
    if load_acquire(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_CANCEL) == failed:
        kind = at.LOG_CANCELLED
    results = load_i32(record + at.RECORD_RESULTS)
    if results == 0:
        log_kernel(context, watch, activation, record, kind)
    for i in range(results):
        log_state(context, watch, activation, slot_of(record, i), failed, kind)


@outline
def hand_to_pool(context: Address, activation: Address, record: Address) -> None:
    """Hand a kernel to the blocking pool.  Its arguments stay in their registers."""
    # Mark the activation before adding the task: a thread of the pool may run it immediately.
    mark_shared(activation)
    watch = watch_of(activation)
    if watch != 0:
        log_kernel(context, watch, activation, record, at.LOG_ENQUEUE)
    function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_BLOCKING)
    task = new_task(context, function, activation, record, 0)
    if not add_blocking_task(context, task):
        free_task(context, task)
        fail_kernel_with(context, activation, record, at.MESSAGE_POOL_FULL)
