"""Share this thread's ready work with other threads, and start calls from outside.

A thread that starts a call often waits for the call's results immediately, and then runs the call
itself, which takes less time than another thread needs to wake up.  Therefore, a started call waits
on a separate stack.  Waiting threads take it immediately; a worker takes it only after a nap during
which no thread took anything from that stack.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.events import log_kernel, watch_of
from tfrt_runtime.native.memory import (
    Address,
    call1,
    entry,
    fence,
    fetch_add,
    futex_wait,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    outline,
    push,
    store,
    take_all,
)
from tfrt_runtime.native.queues.deques import inject_list, reverse_tasks
from tfrt_runtime.native.queues.tasks import (
    add_task,
    advance_epoch,
    arrive,
    depart,
    has_common_task,
    has_queued_task,
    new_task,
    next_random,
    sleep_on_queue,
    sleepers,
    spread_injected,
    wake_sleeper,
)
from tfrt_runtime.native.queues.waiters import mark_shared
from tfrt_runtime.native.trimming import give_if_much

SLICE_NS = 20_000_000
"""How long a thread works, in ns, before it calls Python again."""
SEARCHED = 16 * 128
"""How many bytes of ready entries are searched for large kernels at every opportunity."""


@entry
def hand_over(context: Address) -> None:
    """Turn all ready kernels of this thread into tasks, and share the tasks that it keeps.

    This is for a thread that will run no more kernels, or will be away for a long time.
    """
    base = load(context + at.CONTEXT_READY)
    top = load(context + at.CONTEXT_READY_TOP)
    while base < top:
        top -= 16
        enqueue_entry(context, load(top), load(top + 8))
    store(context + at.CONTEXT_READY_TOP, base)
    share_pending(context)
    queue = load(context + at.CONTEXT_QUEUE)
    # `put_back` wakes no thread, because its caller returns for the tasks. This thread may not
    # return.
    if load_acquire(queue + at.QUEUE_ORDERED) != 0:
        wake_sleeper(queue)


@native
def enqueue_entry(context: Address, activation: Address, record: Address) -> None:
    """Turn a ready entry into a task."""
    # Mark the activation as shared before the task exists, because another thread may take the task
    # as soon as it is added.
    tag = activation & at.READY_BITS
    if tag == at.READY_DELIVERY:
        mark_shared(load(activation - at.READY_DELIVERY))
    elif tag != at.READY_JOIN:  # a join's caller is shared from the start
        mark_shared(activation - tag)
    if tag == at.READY_KERNEL:
        watch = watch_of(activation)
        if watch != 0:
            log_kernel(context, watch, activation, record, at.LOG_ENQUEUE)
    function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ENTRY)
    add_task(context, new_task(context, function, activation, record, 0))


@native
def share_pending(context: Address) -> None:
    """Move the tasks that only this thread knows to where other threads can find them, in the
    same order.
    """
    # One swap publishes the whole list. The activations are marked as shared before that: while
    # only this thread knows a task of `async_kernels.enqueue`, the task is counted in its
    # activation with plain stores.
    task = load(context + at.CONTEXT_PENDING)
    if task == 0:
        return
    store(context + at.CONTEXT_PENDING, 0)
    last = load(context + at.CONTEXT_PENDING_LAST)
    first = task
    while task != 0:
        activation = load(task + at.TASK_ACTIVATION)
        if activation != 0:
            mark_shared(activation)
        task = load(task + at.TASK_NEXT)
    queue = load(context + at.CONTEXT_QUEUE)
    reverse_tasks(first)
    inject_list(queue, last, first)
    wake_sleeper(queue)


@native
def share_ready(context: Address) -> None:
    """Put all work that is ready on this thread where other workers can find it."""
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        hand_over(context)


@outline
def share_when_idle(context: Address) -> None:
    """Share work that is worth a wake-up if a worker is asleep.

    This is called from time to time.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if load(queue + at.QUEUE_WORKERS) != 0 and sleepers(queue) > 0:
        share_large(context)
        # A task that has an activation is short, so sharing it would cost more than running it.
        task = load(context + at.CONTEXT_PENDING)
        if task != 0 and load(task + at.TASK_ACTIVATION) == 0:
            share_pending(context)
        offer_tasks(context)


@native
def give_way(context: Address) -> None:
    """Release the GIL if this thread holds it, because its next work takes longer than a few
    additions.

    From here on, CONTEXT_DEADLINE limits how long the thread works.  `python_waits.work_here`
    acquires the GIL again.
    """
    # CONTEXT_PYTHON marks that this thread holds the GIL. It is cleared first: code that runs
    # without the GIL must not find it set.
    api = load(context + at.CONTEXT_PYTHON)
    if api != 0:
        store(context + at.CONTEXT_PYTHON, 0)
        store(context + at.CONTEXT_THREAD, call1(load(api + at.PYTHON_SAVE), 0))
        store(context + at.CONTEXT_DEADLINE, now() + SLICE_NS)


@native
def share_large(context: Address) -> None:
    """Put the older half of the ready calls where other workers can find them.

    In a recursion, the older calls are the largest subtrees.  Short kernels stay: if two threads
    work on one activation, its counters cost more than the kernels.
    """
    base = load(context + at.CONTEXT_READY)
    top = load(context + at.CONTEXT_READY_TOP)
    # Each entry must be read. The more entries there are, the less often this is done, so the cost
    # per kernel stays at a fraction of a step, no matter how many kernels are ready.
    if next_random(context) % (1 + (top - base) // SEARCHED) != 0:
        return
    left = count_large(base, top) // 2
    kept = base
    place = base
    while place < top:
        activation = load(place)
        record = load(place + 8)
        if left > 0 and is_large(activation, record):
            enqueue_entry(context, activation, record)
            left -= 1
        else:
            store(kept, activation)
            store(kept + 8, record)
            kept += 16
        place += 16
    store(context + at.CONTEXT_READY_TOP, kept)


@native
def count_large(base: Address, top: Address) -> int:
    """Count the ready entries from `base` to `top` that are large."""
    count = 0
    while base < top:
        if is_large(load(base), load(base + 8)):
            count += 1
        base += 16
    return count


@inline
def is_large(tagged: Address, record: Address) -> bool:
    """Tell whether a ready entry is a kernel that may take longer to run than to share."""
    large = at.KERNEL_CONTROL | at.KERNEL_HEAVY | at.KERNEL_BLOCKING
    return (
        tagged & at.READY_BITS == at.READY_KERNEL
        and load_i32(record + at.RECORD_FLAGS) & large != 0
    )


@native
def offer_tasks(context: Address) -> None:
    """Wake a worker for the short tasks that have accumulated, none of which was worth a wake-up
    by itself.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    # This does not apply to tasks that this thread keeps, because a worker would not find them.
    if sleepers(queue) > 0 and has_common_task(queue):
        wake_sleeper(queue)


NAP_NS = 500_000


@native
def add_start(context: Address, task: Address) -> None:
    """Add a task that starts a call; a worker will run it if no waiting thread does."""
    queue = load(context + at.CONTEXT_QUEUE)
    if load(queue + at.QUEUE_WORKERS) == 0:
        add_task(context, task)
        return
    push(queue + at.QUEUE_STARTED, task, at.TASK_NEXT)
    # A napping worker stops counting as such before its last check of the stack: either it finds
    # the call, or this thread sees that no worker is napping, and wakes one.
    fence()
    if load_acquire(queue + at.QUEUE_NAPPING) == 0:
        wake_sleeper(queue)


@native
def take_start(context: Address) -> Address:
    """Take all started calls; return the oldest, which must start now, or 0.

    The other calls are put where other threads can find them.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    newest = take_started(queue)
    if newest == 0:
        return 0
    return spread_injected(context, reverse_tasks(newest))


@native
def take_started(queue: Address) -> Address:
    """Take the stack of started calls; return its newest task, or 0."""
    newest = take_all(queue + at.QUEUE_STARTED)
    if newest != 0:
        # A napping worker compares this count: if calls were taken, the worker need not start them.
        fetch_add(queue + at.QUEUE_TAKEN, 1)
    return newest


@native
def sleep_or_nap(context: Address) -> None:
    """Sleep as a worker without work.

    Only nap while a call is left that a waiting thread may take.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if load_acquire(queue + at.QUEUE_STARTED) == 0:
        give_if_much(context)
        sleep_on_queue(context, 0, -1)
        return
    # Read the count before the nap: if it is the same afterward, no thread took a call in between.
    taken = load_acquire(queue + at.QUEUE_TAKEN)
    end = now() + NAP_NS
    fetch_add(queue + at.QUEUE_NAPPING, 1)
    epoch = arrive(queue)
    if not has_queued_task(context) and load_acquire(queue + at.QUEUE_STOP) == 0:
        advance_epoch(context)
        futex_wait(queue + at.QUEUE_EPOCH, epoch, NAP_NS)
        advance_epoch(context)
    depart(queue)
    # Do this before the last check for calls, which is either here or in `sleep_on_queue`, after
    # the fence of `arrive`; see `add_start`.
    fetch_add(queue + at.QUEUE_NAPPING, -1)
    if now() >= end and load_acquire(queue + at.QUEUE_TAKEN) == taken:
        begin_started(queue)


@entry
def begin_started(queue: Address) -> None:
    """Let any thread take the started calls."""
    newest = take_started(queue)
    if newest != 0:
        oldest = newest
        while load(oldest + at.TASK_NEXT) != 0:
            oldest = load(oldest + at.TASK_NEXT)
        inject_list(queue, newest, oldest)
        wake_sleeper(queue)
