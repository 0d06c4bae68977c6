"""Share this thread's ready work with other threads, and start root calls.

The thread that starts a root call often waits for the call's results immediately.  It can then run
the call itself sooner than another thread could wake up.  Therefore, a started call first goes to a
separate stack, QUEUE_STARTED.  Waiting threads take calls from there immediately.  A worker takes
them only after a nap during which no other thread has taken any.
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
from tfrt_runtime.native.queues.waiters import mark_shared, push_entries
from tfrt_runtime.native.trimming import give_if_much

SLICE_NS = 20_000_000
"""The time that a thread works before it calls Python again, in ns."""
SEARCHED = 16 * 128
"""On average, a call of `share_large` searches at most about this many bytes of ready entries."""


@entry
def hand_over(context: Address) -> None:
    """Turn this thread's ready kernels into tasks, and share the tasks that it keeps.

    Call this on a thread that will run no more kernels or will be away for a long time.
    """
    while load(context + at.CONTEXT_READY_TOP) != load(context + at.CONTEXT_READY):
        top = load(context + at.CONTEXT_READY_TOP) - 16
        store(context + at.CONTEXT_READY_TOP, top)
        # Each kernel becomes a task of its own, so that several threads can run them.
        if load(top) & at.READY_BITS == at.READY_ENTRIES:
            push_entries(context, load(top) - at.READY_ENTRIES, load(top + 8))
        else:
            enqueue_entry(context, load(top), load(top + 8))
    share_pending(context)
    queue = load(context + at.CONTEXT_QUEUE)
    # `put_back` wakes no thread, because its caller usually comes back for the tasks. This thread
    # may not come back.
    if load_acquire(queue + at.QUEUE_ORDERED) != 0:
        wake_sleeper(queue)


@native
def enqueue_entry(context: Address, activation: Address, record: Address) -> None:
    """Turn an entry of the ready stack into a task."""
    # Mark the activation as shared first: another thread may take the task as soon as it is added.
    tag = activation & at.READY_BITS
    if tag == at.READY_DELIVERY:
        mark_shared(load(activation - at.READY_DELIVERY))
    elif tag != at.READY_JOIN:  # a join's caller is already shared
        mark_shared(activation - tag)
    if tag == at.READY_KERNEL:
        watch = watch_of(activation)
        if watch != 0:
            log_kernel(context, watch, activation, record, at.LOG_ENQUEUE)
    function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ENTRY)
    add_task(context, new_task(context, function, activation, record, 0))


@native
def share_pending(context: Address) -> None:
    """Move the tasks that this thread keeps to the injected stack, in the same order."""
    # One swap publishes the whole list. Mark the tasks' activations as shared before that, because
    # other threads will change their counters. So far, this thread may have used plain stores.
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
    # This thread's list starts with the oldest task, but the stack starts with the newest.
    reverse_tasks(first)
    inject_list(queue, last, first)
    wake_sleeper(queue)


@native
def share_ready(context: Address) -> None:
    """If the queue has workers, share all of this thread's ready work."""
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        hand_over(context)


@outline
def share_when_idle(context: Address) -> None:
    """If a worker is asleep, share any work that is worth waking it for.

    The run loop calls this from time to time.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if load(queue + at.QUEUE_WORKERS) != 0 and sleepers(queue) > 0:
        share_large(context)
        # A task with an activation is short: sharing it would cost more than running it.
        task = load(context + at.CONTEXT_PENDING)
        if task != 0 and load(task + at.TASK_ACTIVATION) == 0:
            share_pending(context)
        offer_tasks(context)


@native
def give_way(context: Address) -> None:
    """If this thread holds the GIL, release it, because this thread's next work may take long.

    From now on, CONTEXT_DEADLINE limits how long the thread works.  `python_waits.work_here` takes
    the GIL again.
    """
    # A nonzero CONTEXT_PYTHON means that this thread holds the GIL, so clear it before releasing
    # the GIL.
    api = load(context + at.CONTEXT_PYTHON)
    if api != 0:
        store(context + at.CONTEXT_PYTHON, 0)
        store(context + at.CONTEXT_THREAD, call1(load(api + at.PYTHON_SAVE), 0))
        store(context + at.CONTEXT_DEADLINE, now() + SLICE_NS)


@native
def share_large(context: Address) -> None:
    """Share the older half of the large kernels on the ready stack.

    In a recursion, the older kernels are the larger subtrees.  Short kernels stay: if two threads
    work on one activation, its counters cost more than the kernels.
    """
    base = load(context + at.CONTEXT_READY)
    top = load(context + at.CONTEXT_READY_TOP)
    # The search reads every entry, so the more entries there are, the less often it happens. The
    # average cost per call then does not grow with the number of entries.
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
    """Return how many ready entries from `base` to `top` are large kernels."""
    count = 0
    while base < top:
        if is_large(load(base), load(base + 8)):
            count += 1
        base += 16
    return count


@inline
def is_large(tagged: Address, record: Address) -> bool:
    """Return whether a ready entry is a kernel that may take longer than sharing it."""
    large = at.KERNEL_CONTROL | at.KERNEL_HEAVY | at.KERNEL_BLOCKING
    return (
        tagged & at.READY_BITS == at.READY_KERNEL
        and load_i32(record + at.RECORD_FLAGS) & large != 0
    )


@native
def offer_tasks(context: Address) -> None:
    """Wake a worker if short tasks are waiting in the queue.

    None of these tasks was worth waking a worker when it was added.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    # Do not count the tasks that this thread keeps: a worker would not find them.
    if sleepers(queue) > 0 and has_common_task(queue):
        wake_sleeper(queue)


NAP_NS = 500_000


@native
def add_start(context: Address, task: Address) -> None:
    """Add a task that starts a root call.

    A waiting thread usually takes the task; otherwise, a worker does.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if load(queue + at.QUEUE_WORKERS) == 0:
        add_task(context, task)
        return
    push(queue + at.QUEUE_STARTED, task, at.TASK_NEXT)
    # A worker subtracts itself from QUEUE_NAPPING before its last check of the stack. Either that
    # worker finds the call, or this thread sees that no worker is napping, and wakes one.
    fence()
    if load_acquire(queue + at.QUEUE_NAPPING) == 0:
        wake_sleeper(queue)


@native
def take_start(context: Address) -> Address:
    """Take the tasks of all root calls that are waiting to start; return the oldest, or 0.

    The other tasks go to this thread's deque or to the injected stack, where other threads find
    them.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    newest = take_started(queue)
    if newest == 0:
        return 0
    return spread_injected(context, reverse_tasks(newest))


@native
def take_started(queue: Address) -> Address:
    """Take the stack of root calls that are waiting to start; return its newest task, or 0."""
    newest = take_all(queue + at.QUEUE_STARTED)
    if newest != 0:
        # A napping worker checks this count to find out whether another thread has taken calls.
        fetch_add(queue + at.QUEUE_TAKEN, 1)
    return newest


@native
def sleep_or_nap(context: Address) -> None:
    """Let a worker that has found no work sleep.

    If a root call is waiting to start, only nap, because another thread may take the call soon.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if load_acquire(queue + at.QUEUE_STARTED) == 0:
        give_if_much(context)
        sleep_on_queue(context, 0, -1)
        return
    # If QUEUE_TAKEN is the same after the nap, no thread has taken a call in the meantime.
    taken = load_acquire(queue + at.QUEUE_TAKEN)
    end = now() + NAP_NS
    fetch_add(queue + at.QUEUE_NAPPING, 1)
    epoch = arrive(queue)
    if not has_queued_task(context) and load_acquire(queue + at.QUEUE_STOP) == 0:
        advance_epoch(context)
        futex_wait(queue + at.QUEUE_EPOCH, epoch, NAP_NS)
        advance_epoch(context)
    depart(queue)
    # `add_start` relies on this subtraction coming before the last check for calls, which comes
    # after the fence in `arrive`.
    fetch_add(queue + at.QUEUE_NAPPING, -1)
    # A worker that was woken early searches for work first. If the calls are still there, it naps
    # again.
    if now() >= end and load_acquire(queue + at.QUEUE_TAKEN) == taken:
        begin_started(queue)


@entry
def begin_started(queue: Address) -> None:
    """Let any thread of the queue take the root calls that are waiting to start."""
    newest = take_started(queue)
    if newest != 0:
        oldest = newest
        while load(oldest + at.TASK_NEXT) != 0:
            oldest = load(oldest + at.TASK_NEXT)
        inject_list(queue, newest, oldest)
        wake_sleeper(queue)
