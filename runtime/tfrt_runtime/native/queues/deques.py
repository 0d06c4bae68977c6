"""Where tasks wait: the deque of a worker, the injected stack, and the list of a thread (see
`tasks`).
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    fence,
    inline,
    load,
    load_acquire,
    native,
    push,
    push_list,
    store,
    store_release,
    take_all,
)


@native
def push_bottom(deque: Address, task: Address) -> bool:
    """Add the newest task; return False if the deque is full (owner only)."""
    # Only the owner writes `bottom`; a stale `top` only makes the deque look fuller than it is.
    bottom = load_acquire(deque + at.DEQUE_BOTTOM)
    top = load_acquire(deque + at.DEQUE_TOP)
    if bottom - top >= at.DEQUE_CAPACITY:
        return False
    # A thief may read the slot while it is being overwritten, but in that case its compare_and_swap
    # fails. The slot is written before the bottom, so a thief that sees the bottom sees the task.
    store_release(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)), task)
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return True


@native
def pop_bottom(deque: Address) -> Address:
    """Take the newest task, or return 0 (owner only)."""
    bottom = load_acquire(deque + at.DEQUE_BOTTOM) - 1
    # If the deque is empty, it stays empty, because only this thread adds tasks. This check saves
    # the fence.
    if load_acquire(deque + at.DEQUE_TOP) > bottom:
        return 0
    store_release(deque + at.DEQUE_BOTTOM, bottom)
    # The new bottom must be visible before `top` is read; otherwise, owner and thief could both
    # take the last task.
    fence()
    top = load_acquire(deque + at.DEQUE_TOP)
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)))
    if top < bottom:
        return task
    # The last task belongs to the thread that moves `top` first. Whichever thread that is, the
    # deque is then empty, with `top` at bottom + 1.
    if top > bottom or compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        task = 0
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return task


@native
def steal_top(deque: Address) -> Address:
    """Take the oldest task; return 0 if none is left or another thread was faster (any thread)."""
    top = load_acquire(deque + at.DEQUE_TOP)
    # This pairs with the fence of `pop_bottom`: `top` must be read before `bottom`.
    fence()
    if top >= load_acquire(deque + at.DEQUE_BOTTOM):
        return 0
    # Read the task before the swap, because after the swap, the owner may refill the slot.
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (top & (at.DEQUE_CAPACITY - 1)))
    if compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        return 0
    return task


@native
def inject(queue: Address, task: Address) -> None:
    """Add a task to the injected stack (any thread)."""
    push(queue + at.QUEUE_INJECTED, task, at.TASK_NEXT)


@native
def inject_list(queue: Address, newest: Address, oldest: Address) -> None:
    """Add tasks, linked from the newest to the oldest, to the injected stack (any thread)."""
    push_list(queue + at.QUEUE_INJECTED, newest, oldest, at.TASK_NEXT)


@native
def reverse_tasks(task: Address) -> Address:
    """Reverse a list of tasks; return its new first task."""
    first = 0
    while task != 0:
        following = load(task + at.TASK_NEXT)
        store(task + at.TASK_NEXT, first)
        first = task
        task = following
    return first


@native
def take_injected(queue: Address) -> Address:
    """Take all injected tasks in one step; return them as a list in order of arrival, or 0."""
    return reverse_tasks(take_all(queue + at.QUEUE_INJECTED))


@native
def keep_injected(context: Address) -> None:
    """Take all injected tasks for this thread alone, and append them to the tasks that it keeps.

    This is for queues without workers, for which Python chooses the next task.
    """
    newest = take_all(load(context + at.CONTEXT_QUEUE) + at.QUEUE_INJECTED)
    if newest != 0:
        keep_tasks(context, reverse_tasks(newest), newest)


@entry
def take_tasks(queue: Address) -> Address:
    """Take the tasks of a queue without workers; return 0 if there are none.

    They are a list linked by TASK_NEXT, starting with the oldest.
    """
    task = take_all(queue + at.QUEUE_ORDERED)
    return task if task != 0 else take_injected(queue)


@native
def next_in_order(context: Address) -> Address:
    """Take the oldest task of a queue without workers, or the oldest that this thread keeps.

    Return 0 if there is none.

    The other tasks stay where other threads can find them.  Otherwise, a thread that waits for many
    results, one after another, would move all of them each time.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    task = take_all(queue + at.QUEUE_ORDERED)
    if task == 0:
        task = take_pending(context)
        if task != 0:
            return task
        task = take_injected(queue)
        # Each round of tasks counts coroutines from 0, which bounds the number of coroutines that a
        # round spawns, so that a recursion continues depth first.
        store(context + at.CONTEXT_SPAWNED, 0)
    if task != 0 and load(task + at.TASK_NEXT) != 0:
        put_back(queue, load(task + at.TASK_NEXT))
    return task


@native
def put_back(queue: Address, oldest: Address) -> None:
    """Put back tasks that this thread took from a queue without workers, for other threads."""
    # The list has only one word, and no second word for its newest task: a thread could read one of
    # the two words before another thread's swap and the other word after it.
    if compare_and_swap(queue + at.QUEUE_ORDERED, 0, oldest) == 0:
        # Another thread has put back tasks that it took while this thread had these.
        inject_list(queue, reverse_tasks(oldest), oldest)


@inline
def keep_tasks(context: Address, first: Address, last: Address) -> None:
    """Add a list of tasks to the tasks that this thread keeps for itself."""
    if load(context + at.CONTEXT_PENDING) == 0:
        store(context + at.CONTEXT_PENDING, first)
    else:
        store(load(context + at.CONTEXT_PENDING_LAST) + at.TASK_NEXT, first)
    store(context + at.CONTEXT_PENDING_LAST, last)


@inline
def take_pending(context: Address) -> Address:
    """Take the first of the tasks that this thread keeps; return 0 if there is none."""
    task = load(context + at.CONTEXT_PENDING)
    if task != 0:
        store(context + at.CONTEXT_PENDING, load(task + at.TASK_NEXT))
    return task
