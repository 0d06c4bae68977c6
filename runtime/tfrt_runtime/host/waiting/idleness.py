"""Whether a work queue is quiescent: nothing runs, nothing is queued, nothing is about to be.

The answer is made of many words that change while they are read.  Each thread has an activity epoch
(CONTEXT_EPOCH): odd while it may hold work, and it only grows.  Two equal reads of all epochs, all
even, with no work queued in between, prove that the queue was quiescent (double collect).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.raw import words_at
from tfrt_runtime.host.structs import Context, Deque, Pool


def is_idle(queue: WorkQueue, apart_from: Collection[int] = ()) -> bool:
    """Whether nothing of the queue runs or waits for a thread; wrong only in saying no.

    `apart_from` are contexts that are known to do nothing: those of the thread that asks.
    """
    return rest_of(queue, apart_from) is not None


def quiesce(queue: WorkQueue, interrupted: Callable[[], bool]) -> bool:
    """Work for the queue until it is idle, apart from threads that do the same.

    Returns early, and False, when `interrupted` says so, which is asked every millisecond.  What code
    outside the runtime may still resolve is not waited for.  What such a thread runs while it waits
    counts as work: only the kernel that waits itself is left out.

    Raises:
        WorkQueueError: if this thread must not wait for the queue.
        KeyboardInterrupt: on the main thread, when the user interrupts.
    """
    is_quiet = False

    def is_over() -> bool:
        nonlocal is_quiet
        # What is further down on this thread's stack cannot go on before this returns.
        is_quiet = is_idle(queue, (*queue.quiescing, *queue.thread.beneath))
        return is_quiet or interrupted()

    own = queue.context() if queue.is_at_work_here else 0
    queue.quiescing.add(own)
    try:
        queue.work_until(is_over)
    finally:
        queue.quiescing.discard(own)
    return is_quiet


def rest_of(queue: WorkQueue, apart_from: Collection[int] = ()) -> list[int] | None:
    """The rest that the queue is in, if it `is_idle`; else None.

    If it gives the same rest twice, nothing has happened in between.
    """
    before = epochs(queue, apart_from)
    if any(number & 1 for number in before) or has_work(queue):
        return None
    return before if before == epochs(queue, apart_from) else None


def epochs(queue: WorkQueue, apart_from: Collection[int] = ()) -> list[int]:
    """Numbers of epochs by thread, odd ones for threads that may hold work; they only grow.

    The last one is even, and grows with each blocking task that is taken.
    """
    contexts = [context for context in queue.contexts if context not in apart_from]
    return [*(Context.at(context).epoch for context in contexts), 2 * Pool.at(queue.pool).head]


def has_work(queue: WorkQueue) -> bool:
    """Whether a task is queued, or a kernel is ready on some thread."""
    pool, contexts = Pool.at(queue.pool), [Context.at(context) for context in queue.contexts]
    return (
        bool(queue.resolving)
        or queue.native.injected != 0
        or queue.native.ordered != 0
        or queue.native.started != 0
        or pool.head != pool.tail
        or any(context.ready != context.ready_top for context in contexts)
        or any(context.pending != 0 for context in contexts)
        # Threads of another queue count, too, for the moment that it takes them to wake.
        or native_process().words.resuming != 0
        or any(deque.top < deque.bottom for deque in _deques(queue))
        # Last: tasks go from the core to the thread that runs it.
        or queue.has_outside_tasks()
    )


def _deques(queue: WorkQueue) -> list[Deque]:
    return [Deque.at(one) for one in words_at(queue.native.deques, queue.native.workers)]
