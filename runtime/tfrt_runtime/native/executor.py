"""The run loop: takes ready kernels and runs them, one thread's part of a BEF program.

The loop never waits and never takes a lock.  A kernel runs when its ready count reaches zero: its
arguments are in their registers, available.  If one of them is an error, or the request is
cancelled, the kernel is skipped and the error becomes each of its results.

The context is also the kernel's frame: CONTEXT_ARGUMENTS points at the arguments (concrete, behind
any indirect value), CONTEXT_RESULTS at one word per result, 0 until the kernel sets it.  A kernel
borrows its arguments and hands over one reference to each result.
"""

from __future__ import annotations

from tfrt_runtime.native.activation import (
    begin,
    deliver,
    deliver_later,
    end_activation,
    end_join,
    finish,
    mark_shared,
    new_activation,
    peek_register,
    push_ready,
)
from tfrt_runtime.native.async_value import add_references, drop_reference, resolve
from tfrt_runtime.native.layouts import (
    ACTIVATION_REQUEST,
    CONTEXT_ACTIVATION,
    CONTEXT_ARGUMENTS,
    CONTEXT_DEADLINE,
    CONTEXT_FRAME_LIMIT,
    CONTEXT_PROCESS,
    CONTEXT_QUEUE,
    CONTEXT_READY,
    CONTEXT_READY_TOP,
    CONTEXT_REQUEST,
    CONTEXT_RESULTS,
    CONTEXT_STARTED,
    ERROR,
    FUNCTION_ARGUMENT_TABLE,
    FUNCTION_ARGUMENTS,
    KERNEL_BLOCKING,
    KERNEL_CONTROL,
    KERNEL_HEAVY,
    KERNEL_NONSTRICT,
    KERNEL_RAW,
    KERNEL_TRACED,
    KERNEL_WIDE,
    MESSAGE_NO_RESULT,
    MESSAGE_POOL_FULL,
    POOL_DONE,
    POOL_STOP,
    PROCESS_REPORT_ERROR,
    PROCESS_RUN_BLOCKING,
    PROCESS_RUN_ENTRY,
    QUEUE_SLEEPERS,
    QUEUE_STOP,
    QUEUE_WORKERS,
    READY_BITS,
    READY_DELIVERY,
    READY_END,
    READY_JOIN,
    READY_KERNEL,
    RECORD_ARGUMENTS,
    RECORD_FLAGS,
    RECORD_KERNEL,
    RECORD_REGISTERS,
    RECORD_RESULTS,
    RECORD_SLOTS,
    RECORD_WAITS,
    REQUEST_CANCEL,
    RETURN_ROOT,
    STATE_BITS,
    TASK_FIRST,
    TASK_FUNCTION,
    TASK_NEXT,
    TASK_SECOND,
    VALUE_STATE,
)
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    call2,
    call3,
    entry,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    now,
    pause,
    release,
    store,
)
from tfrt_runtime.native.tasks import (
    add_blocking_task,
    add_task,
    call_for_threads,
    find_task,
    free_task,
    has_task,
    new_task,
    sleep_on_queue,
    take_blocking_task,
    take_injected,
    turn,
    wake_sleeper,
)

SHARE_INTERVAL = 1024
"""Kernels between two looks at whether another worker sleeps: about 20 us, what a wake-up costs."""
SPIN_ROUNDS = 200


@inline
def stage_arguments(context: Address, activation: Address, record: Address, count: int) -> Address:
    """Put the arguments into the frame; returns the last one that is an error, or 0."""
    frame = load(context + CONTEXT_ARGUMENTS)
    failed = 0
    for i in range(count):
        value = load(activation + load(record + RECORD_REGISTERS + 8 * i))
        if load_acquire(value + VALUE_STATE) & STATE_BITS == ERROR:
            failed = value
        store(frame + 8 * i, resolve(value))
    return failed


@native
def stage_raw(context: Address, activation: Address, record: Address, count: int) -> Address:
    """Put the registers into the frame as they are; a non-strict kernel's may still be empty.

    A non-strict kernel's first arguments may be strict ones: those are staged like a strict
    kernel's, and the last of them that is an error is returned, or 0.
    """
    frame = load(context + CONTEXT_ARGUMENTS)
    waits = load(record + RECORD_WAITS)
    strict = 0
    if waits != 0:
        strict = load(waits)
    for i in range(strict, count):
        register = load(record + RECORD_REGISTERS + 8 * i)
        if waits != 0:
            value = peek_register(context, activation, register, load(waits + 8 + 8 * i))
        else:
            value = load(activation + register)
        store(frame + 8 * i, value)
    return stage_arguments(context, activation, record, strict)


@native
def grow_frame(context: Address, needed: int) -> None:
    """Make room for `needed` arguments and as many results."""
    release(load(context + CONTEXT_ARGUMENTS))
    frame = allocate(16 * needed)
    store(context + CONTEXT_ARGUMENTS, frame)
    store(context + CONTEXT_RESULTS, frame + 8 * needed)
    store(context + CONTEXT_FRAME_LIMIT, needed)


@native
def report_error(context: Address, record: Address, message: int) -> Address:
    """An error value with one reference, for native message number `message`."""
    callback = load(load(context + CONTEXT_PROCESS) + PROCESS_REPORT_ERROR)
    return call3(callback, context, record, message)


@inline
def drop_arguments(context: Address, activation: Address, record: Address, count: int) -> None:
    """Give up the kernel's references to its arguments."""
    for i in range(count):
        value = load(activation + load(record + RECORD_REGISTERS + 8 * i))
        drop_reference(context, value)


@native
def fail_kernel(context: Address, activation: Address, record: Address, failed: Address) -> None:
    """Skip a kernel: the error becomes each of its results."""
    results = load(record + RECORD_RESULTS)
    add_references(failed, results + 1)
    drop_arguments(context, activation, record, load(record + RECORD_ARGUMENTS))
    slots = load(record + RECORD_SLOTS)
    for i in range(results):
        deliver(context, activation, load(slots + 8 * i), failed)
    drop_reference(context, failed)
    finish(context, activation)


@inline
def run_kernel(context: Address, activation: Address, record: Address) -> None:
    """Run one ready kernel, or skip it, and deliver its results."""
    flags = load(record + RECORD_FLAGS)
    if flags & (KERNEL_NONSTRICT | KERNEL_RAW | KERNEL_BLOCKING | KERNEL_WIDE) != 0:
        run_unusual_kernel(context, activation, record, False)
        return
    arguments = load(record + RECORD_ARGUMENTS)
    failed = stage_arguments(context, activation, record, arguments)
    request = load(activation + ACTIVATION_REQUEST)
    if failed == 0:
        failed = load_acquire(request + REQUEST_CANCEL)
    if failed != 0:
        fail_kernel(context, activation, record, failed)
    else:
        store(context + CONTEXT_REQUEST, request)
        call_kernel(context, activation, record, flags)


@native
def run_unusual_kernel(
    context: Address, activation: Address, record: Address, may_block: bool
) -> None:
    """As `run_kernel`, for kernels of every kind.

    `may_block` is set on the blocking pool's threads, where blocking kernels run.
    """
    arguments = load(record + RECORD_ARGUMENTS)
    needed = arguments + load(record + RECORD_RESULTS)
    if needed > load(context + CONTEXT_FRAME_LIMIT):
        grow_frame(context, needed)
    flags = load(record + RECORD_FLAGS)
    if flags & (KERNEL_NONSTRICT | KERNEL_RAW) != 0:
        failed = stage_raw(context, activation, record, arguments)
    else:
        failed = stage_arguments(context, activation, record, arguments)
    request = load(activation + ACTIVATION_REQUEST)
    if failed == 0:
        failed = load_acquire(request + REQUEST_CANCEL)
    if failed != 0:
        fail_kernel(context, activation, record, failed)
        return
    store(context + CONTEXT_REQUEST, request)
    if flags & KERNEL_BLOCKING != 0 and not may_block:
        hand_to_pool(context, activation, record)
    else:
        call_kernel(context, activation, record, flags)


@inline
def call_kernel(context: Address, activation: Address, record: Address, flags: int) -> None:
    """Call a kernel whose arguments are in the frame, and deliver its results."""
    if flags & (KERNEL_HEAVY | KERNEL_TRACED) != 0:
        prepare_kernel(context, flags)
    store(context + CONTEXT_ACTIVATION, activation)
    results = load(record + RECORD_RESULTS)
    frame = load(context + CONTEXT_RESULTS)
    for i in range(results):
        store(frame + 8 * i, 0)
    call2(load(record + RECORD_KERNEL), context, record)
    if flags & KERNEL_CONTROL != 0:
        return
    drop_arguments(context, activation, record, load(record + RECORD_ARGUMENTS))
    slots = load(record + RECORD_SLOTS)
    for i in range(results):
        value = load(frame + 8 * i)
        if value == 0:
            value = report_error(context, record, MESSAGE_NO_RESULT)
        deliver(context, activation, load(slots + 8 * i), value)
    if flags & KERNEL_TRACED != 0:
        store(context + CONTEXT_STARTED, 0)
    finish(context, activation)


@native
def prepare_kernel(context: Address, flags: int) -> None:
    """Before a traced kernel: note the time.  Before a heavy one: let others have the rest."""
    if flags & KERNEL_TRACED != 0:
        store(context + CONTEXT_STARTED, now())
    if flags & KERNEL_HEAVY != 0:
        share_ready(context, 1)
        offer_tasks(context)


@native
def share_ready(context: Address, divisor: int) -> None:
    """Put the oldest `1 / divisor` of this thread's ready kernels where other workers find them.

    The oldest ones: in a recursion they are the largest subtrees.
    """
    if load(load(context + CONTEXT_QUEUE) + QUEUE_WORKERS) == 0:
        return
    base = load(context + CONTEXT_READY)
    top = load(context + CONTEXT_READY_TOP)
    share = (top - base) // 16 // divisor
    for i in range(share):
        enqueue_entry(context, load(base + 16 * i), load(base + 16 * i + 8))
    kept = base + 16 * share
    while kept < top:
        store(base, load(kept))
        store(base + 8, load(kept + 8))
        base += 16
        kept += 16
    store(context + CONTEXT_READY_TOP, base)


@native
def enqueue_entry(context: Address, activation: Address, record: Address) -> None:
    """Turn a ready entry into a task."""
    tag = activation & READY_BITS
    if tag == READY_DELIVERY:
        mark_shared(load(activation - READY_DELIVERY))
    elif tag != READY_JOIN:  # a join's caller is shared from the start
        mark_shared(activation - tag)
    function = load(load(context + CONTEXT_PROCESS) + PROCESS_RUN_ENTRY)
    add_task(context, new_task(context, function, activation, record, 0))


@entry
def hand_over(context: Address) -> None:
    """Turn all ready kernels of this thread into tasks: it does not run kernels itself."""
    base = load(context + CONTEXT_READY)
    top = load(context + CONTEXT_READY_TOP)
    while base < top:
        top -= 16
        enqueue_entry(context, load(top), load(top + 8))
    store(context + CONTEXT_READY_TOP, base)


@entry
def run_entry(context: Address, task: Address) -> None:
    """Task function: a ready kernel that was shared."""
    activation = load(task + TASK_FIRST)
    record = load(task + TASK_SECOND)
    free_task(context, task)
    push_ready(context, activation, record)


@native
def hand_to_pool(context: Address, activation: Address, record: Address) -> None:
    """Let the blocking pool run a kernel; its arguments stay in their registers."""
    mark_shared(activation)
    function = load(load(context + CONTEXT_PROCESS) + PROCESS_RUN_BLOCKING)
    task = new_task(context, function, activation, record, 0)
    if not add_blocking_task(context, task):
        free_task(context, task)
        failed = report_error(context, record, MESSAGE_POOL_FULL)
        fail_kernel(context, activation, record, failed)
        drop_reference(context, failed)


@entry
def run_blocking(context: Address, task: Address) -> None:
    """Task function of the blocking pool: run the kernel that was handed over."""
    activation = load(task + TASK_FIRST)
    record = load(task + TASK_SECOND)
    free_task(context, task)
    run_unusual_kernel(context, activation, record, True)


@native
def run_ready(context: Address, budget: int) -> int:
    """Run ready kernels, newest first, until there is none or `budget` are done; what is left of it."""
    base = load(context + CONTEXT_READY)
    while load(context + CONTEXT_READY_TOP) != base and budget > 0:
        top = load(context + CONTEXT_READY_TOP) - 16
        store(context + CONTEXT_READY_TOP, top)
        run_ready_entry(context, load(top), load(top + 8))
        budget -= 1
        if budget & (SHARE_INTERVAL - 1) == 0:
            share_when_idle(context)
        base = load(context + CONTEXT_READY)
    return budget


@inline
def run_ready_entry(context: Address, tagged: Address, second: Address) -> None:
    """Do what one entry of the ready stack says."""
    tag = tagged & READY_BITS
    if tag == READY_KERNEL:
        run_kernel(context, tagged, second)
    elif tag == READY_END:
        end_activation(context, tagged - READY_END)
    elif tag == READY_DELIVERY:
        deliver_later(context, tagged - READY_DELIVERY, second)
    else:
        end_join(context, tagged - READY_JOIN)


@native
def share_when_idle(context: Address) -> None:
    """Now and then: if a worker sleeps, and there is more than one thing to do, share half of it."""
    if load_acquire(load(context + CONTEXT_QUEUE) + QUEUE_SLEEPERS) > 0:
        share_ready(context, 2)
        offer_tasks(context)


@native
def offer_tasks(context: Address) -> None:
    """Wake a worker for the short tasks that piled up here, which were not worth it one by one."""
    queue = load(context + CONTEXT_QUEUE)
    if load_acquire(queue + QUEUE_SLEEPERS) > 0 and has_task(context):
        wake_sleeper(queue)


@native
def run_task(context: Address, task: Address) -> None:
    """Run one task; kernels that become ready stay on this thread's stack."""
    call2(load(task + TASK_FUNCTION), context, task)


@native
def run_injected(context: Address, budget: int) -> int:
    """Single-threaded queue: run what was injected, in order, kernels right after their task.

    When the budget ends, what is left goes back; a later batch may then overtake it.
    """
    task = take_injected(load(context + CONTEXT_QUEUE))
    while task != 0:
        following = load(task + TASK_NEXT)
        if budget > 0:
            run_task(context, task)
            budget = run_ready(context, budget - 1)
        else:
            add_task(context, task)
        task = following
    return budget


@entry
def work(context: Address, budget: int) -> int:
    """Run what there is for this thread, up to `budget` kernels and tasks; what is left of it."""
    budget = run_ready(context, budget)
    is_single = load(load(context + CONTEXT_QUEUE) + QUEUE_WORKERS) == 0
    while budget > 0:
        if is_single:
            before = budget
            budget = run_injected(context, budget)
            if budget == before:
                return budget
        else:
            task = find_task(context)
            if task == 0:
                return budget
            run_task(context, task)
            budget = run_ready(context, budget - 1)
    return budget


@entry
def help_until(context: Address, word: Address, deadline: int) -> int:
    """Work, and sleep when there is nothing to do, until `word` is 0 or the clock says `deadline`.

    For threads that wait: each call returns to Python soon, so that signals are seen.  What is
    still ready here when it returns, others may take.  Returns the word.
    """
    turn(context)
    store(context + CONTEXT_DEADLINE, deadline)
    while load_acquire(word) != 0 and now() < deadline:
        if work(context, 4096) == 4096:
            sleep_on_queue(context, word, min(deadline - now(), 20_000_000))
    store(context + CONTEXT_DEADLINE, 0)
    hand_over(context)
    offer_tasks(context)
    turn(context)
    return load_acquire(word)


@entry
def worker_loop(context: Address) -> None:
    """The life of a worker: returns when the queue stops."""
    queue = load(context + CONTEXT_QUEUE)
    turn(context)
    while load_acquire(queue + QUEUE_STOP) == 0:
        if work(context, 1 << 40) == 1 << 40 and not spin(context, queue):
            sleep_on_queue(context, 0, -1)
    turn(context)


@native
def spin(context: Address, queue: Address) -> bool:
    """Look for work a little longer before sleeping: a wake-up costs far more."""
    for _ in range(SPIN_ROUNDS):
        if has_task(context) or load_acquire(queue + QUEUE_STOP) != 0:
            return True
        pause()
    return False


@entry
def blocking_loop(context: Address, pool: Address, idle_ns: int) -> None:
    """The life of a thread of the blocking pool: returns when idle for `idle_ns`, or stopped."""
    turn(context)
    while load_acquire(pool + POOL_STOP) == 0:
        task = take_blocking_task(context, pool, idle_ns)
        if task == 0:
            if idle_ns >= 0:
                break
            continue
        call_for_threads(context, pool)
        run_task(context, task)
        hand_over(context)
        fetch_add(pool + POOL_DONE, 1)
    turn(context)


@entry
def start_root(
    context: Address, function: Address, request: Address, arguments: Address, results: Address
) -> None:
    """Start a call from outside.  Its first kernels become ready on this thread.

    Args:
        arguments: one AsyncValue per argument, each with a reference that the call takes over.
        results: a block with one indirect value per result, each with a reference that the call
            takes over; the block has room for one word more, and is the call's.
    """
    activation = new_activation(context, function, request, RETURN_ROOT, 0, results, 0)
    slots = load(function + FUNCTION_ARGUMENT_TABLE)
    count = load(function + FUNCTION_ARGUMENTS)
    for i in range(count):
        deliver(context, activation, load(slots + 8 * i), load(arguments + 8 * i))
    begin(context, activation)
