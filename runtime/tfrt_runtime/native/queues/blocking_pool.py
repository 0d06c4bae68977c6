"""The blocking pool: threads for tasks that may block, and a ring in which these tasks wait.

Any thread may add a task to the ring, and any thread of the pool may take one.  Each place in the
ring has a sequence number, which determines which thread may use the place.  Tasks are numbered
from 0; `n` is the number of a task:

    sequence = n             free for task n         the thread that moves TAIL from n may write it
    sequence = n + 1         task n is in it         the thread that moves HEAD from n may take it
    sequence = n + capacity  free for the next round

This is Dmitry Vyukov's bounded MPMC queue
(https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue).  Because the ring
is bounded, a program that keeps starting blocking kernels gets an error.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    call2,
    compare_and_swap,
    entry,
    fence,
    fetch_add,
    futex_wait,
    futex_wake,
    load,
    load_acquire,
    native,
    now,
    store,
    store_release,
)
from tfrt_runtime.native.queues.tasks import advance_epoch
from tfrt_runtime.native.trimming import give_if_much


@native
def pool_push(pool: Address, task: Address) -> bool:
    """Add a blocking task to the ring; return False if the ring is full."""
    capacity = load(pool + at.POOL_CAPACITY)
    while True:
        number = load_acquire(pool + at.POOL_TAIL)
        place = pool + at.POOL_CELLS + 16 * (number % capacity)
        # Acquire: the thread that took the previous round's task from this place must have read it.
        sequence = load_acquire(place)
        if sequence == number:
            if compare_and_swap(pool + at.POOL_TAIL, number, number + 1) != 0:
                # Only this thread uses the place until the new sequence number is stored.
                store(place + 8, task)
                store_release(place, number + 1)
                return True
        elif sequence < number:
            # The previous round's task is still in the place.
            return False


@entry
def pool_pop(pool: Address) -> Address:
    """Take the oldest blocking task; return 0 if the ring is empty."""
    capacity = load(pool + at.POOL_CAPACITY)
    while True:
        number = load_acquire(pool + at.POOL_HEAD)
        place = pool + at.POOL_CELLS + 16 * (number % capacity)
        sequence = load_acquire(place)
        if sequence == number + 1:
            if compare_and_swap(pool + at.POOL_HEAD, number, number + 1) != 0:
                # Read the task before freeing the place.
                task = load(place + 8)
                store_release(place, number + capacity)
                return task
        # The ring is empty, or a thread has moved TAIL but not stored its task yet. That thread
        # calls `call_for_threads` afterward.
        elif sequence < number + 1:
            return 0


@native
def add_blocking_task(context: Address, task: Address) -> bool:
    """Hand `task` to the blocking pool.

    Return False if the pool is full; the caller then still owns the task.
    """
    pool = load(context + at.CONTEXT_BLOCKING)
    if pool == 0 or not pool_push(pool, task):
        return False
    call_for_threads(context, pool)
    return True


@native
def call_for_threads(context: Address, pool: Address) -> None:
    """Wake an idle thread of the pool if tasks are waiting; request another if too few are idle.

    Call this after adding a task.  A thread of the pool must also call this before it runs a task,
    because it may have counted as idle when another thread added a task.
    """
    # This fence orders the task before the read of POOL_IDLE. An idle thread orders its change of
    # POOL_IDLE before its last check of the ring. Therefore, at least one of the two sees the
    # other.
    fence()
    waiting = load_acquire(pool + at.POOL_TAIL) - load_acquire(pool + at.POOL_HEAD)
    idle = load_acquire(pool + at.POOL_IDLE)
    if waiting > 0 and idle > 0:
        fetch_add(pool + at.POOL_EPOCH, 1)
        futex_wake(pool + at.POOL_EPOCH, 1)
    if waiting > idle and load_acquire(pool + at.POOL_THREADS) < load(pool + at.POOL_LIMIT):
        call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_NEED_THREAD), context, pool)


@native
def take_blocking_task(context: Address, pool: Address, idle_ns: int) -> Address:
    """Take the next blocking task, waiting for up to `idle_ns`.

    Return 0 if no task has arrived or the pool stops.  A negative `idle_ns` means no limit.
    """
    task = pool_pop(pool)
    if task != 0:
        return task
    give_if_much(context)
    end = now() + idle_ns
    left = idle_ns
    # A return from the sleep is only a hint: another thread may have taken the task, or the epoch
    # may have changed before this thread slept. Only the clock tells whether `idle_ns` have passed.
    while task == 0 and load_acquire(pool + at.POOL_STOP) == 0 and (idle_ns < 0 or left > 0):
        task = await_blocking_task(context, pool, left)
        left = end - now() if idle_ns >= 0 else idle_ns
    return task


@native
def await_blocking_task(context: Address, pool: Address, timeout_ns: int) -> Address:
    """Let an idle thread sleep once, unless the ring has a task; return a task or 0."""
    fetch_add(pool + at.POOL_IDLE, 1)
    # Read the epoch before checking the ring: a task that is added later changes the epoch, which
    # prevents the sleep.
    epoch = load_acquire(pool + at.POOL_EPOCH)
    fence()
    task = pool_pop(pool)
    if task == 0 and load_acquire(pool + at.POOL_STOP) == 0:
        advance_epoch(context)
        futex_wait(pool + at.POOL_EPOCH, epoch, timeout_ns)
        advance_epoch(context)
        task = pool_pop(pool)
    fetch_add(pool + at.POOL_IDLE, -1)
    # While this thread counted as idle, a thread that added a task may not have requested another
    # thread. Therefore, check the ring once more.
    fence()
    return task if task != 0 else pool_pop(pool)
