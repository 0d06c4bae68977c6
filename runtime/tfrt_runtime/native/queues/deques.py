"""The places where tasks wait (`tasks` explains how threads use them).

- A worker's deque: the worker takes the newest task, and other threads steal the oldest.
- A queue's injected stack: tasks from threads without a deque.
- The tasks that a thread keeps for itself (CONTEXT_PENDING), in order.
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
    """Add a task as the newest; return False if the deque is full.

    Only the owner of the deque may call this.
    """
    # Only this thread writes `bottom`. An old `top` only makes the deque look fuller than it is.
    bottom = load_acquire(deque + at.DEQUE_BOTTOM)
    top = load_acquire(deque + at.DEQUE_TOP)
    if bottom - top >= at.DEQUE_CAPACITY:
        return False
    # A thief may read the slot while this thread overwrites it, but then the thief's swap fails.
    # The slot is written before `bottom`, so a thief that sees the new `bottom` sees the task.
    store_release(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)), task)
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return True


@native
def pop_bottom(deque: Address) -> Address:
    """Take the newest task; return 0 if the deque is empty.

    Only the owner of the deque may call this.
    """
    bottom = load_acquire(deque + at.DEQUE_BOTTOM) - 1
    # An empty deque stays empty, because only this thread adds tasks. This check saves the fence.
    if load_acquire(deque + at.DEQUE_TOP) > bottom:
        return 0
    store_release(deque + at.DEQUE_BOTTOM, bottom)
    # The new `bottom` must be visible before `top` is read. Otherwise, owner and thief could both
    # take the last task.
    fence()
    top = load_acquire(deque + at.DEQUE_TOP)
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)))
    # Other tasks are left. A thief that reaches this one reads the new `bottom`, and stops.
    if top < bottom:
        return task
    # The thread that moves `top` gets the last task. Either way, the deque is then empty, and `top`
    # is `bottom + 1`.
    if top > bottom or compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        task = 0
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return task


@native
def steal_top(deque: Address) -> Address:
    """Take the oldest task of any thread's deque.

    Return 0 if the deque is empty or another thread was faster.
    """
    top = load_acquire(deque + at.DEQUE_TOP)
    # Pairs with the fence in `pop_bottom`: read `top` before `bottom`.
    fence()
    if top >= load_acquire(deque + at.DEQUE_BOTTOM):
        return 0
    # Read the task before the swap: after the swap, the owner may reuse the slot.
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (top & (at.DEQUE_CAPACITY - 1)))
    if compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        return 0
    return task


@native
def inject(queue: Address, task: Address) -> None:
    """Add a task to the injected stack; any thread may call this."""
    push(queue + at.QUEUE_INJECTED, task, at.TASK_NEXT)


@native
def inject_list(queue: Address, newest: Address, oldest: Address) -> None:
    """Add tasks, linked from the newest to the oldest, to the injected stack.

    Any thread may call this.
    """
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
    """Take all injected tasks; return them as a list in order of arrival, or 0."""
    return reverse_tasks(take_all(queue + at.QUEUE_INJECTED))


@native
def keep_injected(context: Address) -> None:
    """Append all injected tasks to the tasks that this thread keeps.

    Use this for queues without workers, when Python chooses the next task.
    """
    newest = take_all(load(context + at.CONTEXT_QUEUE) + at.QUEUE_INJECTED)
    if newest != 0:
        keep_tasks(context, reverse_tasks(newest), newest)


@entry
def take_tasks(queue: Address) -> Address:
    """Take all tasks of a queue without workers; return 0 if it has none.

    The tasks are linked by TASK_NEXT, oldest first.
    """
    task = take_all(queue + at.QUEUE_ORDERED)
    return task if task != 0 else take_injected(queue)


@native
def next_in_order(context: Address) -> Address:
    """Take the oldest task of a queue without workers; return 0 if it has none.

    The other tasks stay in the queue.  Otherwise, a thread that waits for many results, one after
    another, would move all tasks each time.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    task = take_all(queue + at.QUEUE_ORDERED)
    if task == 0:
        task = take_pending(context)
        if task != 0:
            return task
        task = take_injected(queue)
        # Restart the count of spawned coroutines. A high count makes `spawn` run coroutines
        # directly, so that a recursion continues depth first.
        store(context + at.CONTEXT_SPAWNED, 0)
    if task != 0 and load(task + at.TASK_NEXT) != 0:
        put_back(queue, load(task + at.TASK_NEXT))
    return task


@native
def put_back(queue: Address, oldest: Address) -> None:
    """Return tasks to a queue without workers, after this thread has taken them from the queue."""
    # The list has no word for its newest task, because two words cannot be read in one atomic step.
    if compare_and_swap(queue + at.QUEUE_ORDERED, 0, oldest) == 0:
        # Another thread has put back other tasks in the meantime.
        inject_list(queue, reverse_tasks(oldest), oldest)


@inline
def keep_tasks(context: Address, first: Address, last: Address) -> None:
    """Append the linked tasks from `first` to `last` to the tasks that this thread keeps."""
    # While the list is empty, CONTEXT_PENDING_LAST is out of date, so check CONTEXT_PENDING.
    if load(context + at.CONTEXT_PENDING) == 0:
        store(context + at.CONTEXT_PENDING, first)
    else:
        store(load(context + at.CONTEXT_PENDING_LAST) + at.TASK_NEXT, first)
    store(context + at.CONTEXT_PENDING_LAST, last)


@inline
def take_pending(context: Address) -> Address:
    """Take the first task that this thread keeps; return 0 if it keeps none."""
    task = load(context + at.CONTEXT_PENDING)
    if task != 0:
        store(context + at.CONTEXT_PENDING, load(task + at.TASK_NEXT))
    return task
