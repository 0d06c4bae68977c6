"""Share this thread's ready work with other threads."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.events import log_kernel, watch_of
from tfrt_runtime.native.memory import (
    Address,
    call1,
    entry,
    inline,
    load,
    load_acquire,
    native,
    now,
    outline,
    store,
)
from tfrt_runtime.native.queues.deques import inject_list, reverse_tasks
from tfrt_runtime.native.queues.tasks import (
    add_task,
    has_common_task,
    new_task,
    next_random,
    sleepers,
    wake_sleeper,
)
from tfrt_runtime.native.queues.waiters import mark_shared

SLICE_NS = 20_000_000
"""How long a thread works before it asks Python again."""
SEARCHED = 16 * 128
"""Bytes of ready entries that are searched for large kernels at every opportunity."""


@entry
def hand_over(context: Address) -> None:
    """Turn all ready kernels of this thread into tasks, and share the tasks that it keeps.

    For a thread that runs no more kernels, or will be away for long.
    """
    base = load(context + at.CONTEXT_READY)
    top = load(context + at.CONTEXT_READY_TOP)
    while base < top:
        top -= 16
        enqueue_entry(context, load(top), load(top + 8))
    store(context + at.CONTEXT_READY_TOP, base)
    share_pending(context)
    queue = load(context + at.CONTEXT_QUEUE)
    # `put_back` wakes no thread, because its caller returns for the tasks.  This thread may not.
    if load_acquire(queue + at.QUEUE_ORDERED) != 0:
        wake_sleeper(queue)


@native
def enqueue_entry(context: Address, activation: Address, record: Address) -> None:
    """Turn a ready entry into a task."""
    # Shared before the task exists: another thread may take the task as soon as it is added.
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
    """Move the tasks that only this thread knows to where others find them, in the same order."""
    # One swap for the whole list.  The activations are shared before it: while only this thread
    # knows a task of `async_kernels.enqueue`, the task counts in its activation by plain stores.
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
    """Put everything that is ready on this thread where other workers find it."""
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        hand_over(context)


@outline
def share_when_idle(context: Address) -> None:
    """Share work that is worth a wake-up, if a worker sleeps.  Called from time to time."""
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
    """Release the GIL if this thread holds it: its next work takes longer than a few additions.

    From here on, CONTEXT_DEADLINE bounds how long the thread works.  `python_waits.work_here` takes
    the GIL again.
    """
    # CONTEXT_PYTHON marks that the GIL is held.  It is cleared first: code that runs without the
    # GIL must not find it.
    api = load(context + at.CONTEXT_PYTHON)
    if api != 0:
        store(context + at.CONTEXT_PYTHON, 0)
        store(context + at.CONTEXT_THREAD, call1(load(api + py.PYTHON_SAVE), 0))
        store(context + at.CONTEXT_DEADLINE, now() + SLICE_NS)


@native
def share_large(context: Address) -> None:
    """Put the older half of the ready calls where other workers find them.

    In a recursion, the older ones are the largest subtrees.  Short kernels stay: if two threads
    work on one activation, its counters cost more than the kernels.
    """
    base = load(context + at.CONTEXT_READY)
    top = load(context + at.CONTEXT_READY_TOP)
    # Each entry is read.  The more entries there are, the less often this happens, so that each
    # kernel pays for a fraction of a step, regardless of how many kernels are ready beside it.
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
    return tagged & at.READY_BITS == at.READY_KERNEL and load(record + at.RECORD_FLAGS) & large != 0


@native
def offer_tasks(context: Address) -> None:
    """Wake a worker for accumulated short tasks, none of which was worth a wake-up alone."""
    queue = load(context + at.CONTEXT_QUEUE)
    # Not for tasks that this thread keeps: a worker would not find them.
    if sleepers(queue) > 0 and has_common_task(queue):
        wake_sleeper(queue)
