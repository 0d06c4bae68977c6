"""The blocking pool: a ring of tasks that many threads read and write; each thread may block.

Each place in the ring has a sequence number, which determines who may use the place.  `n` is the
number of the task, counted from the creation of the pool:

    sequence = n             free for task n         the thread that moves TAIL from n may write it
    sequence = n + 1         task n is in it         the thread that moves HEAD from n may take it
    sequence = n + capacity  free for the next round

This is Dmitry Vyukov's bounded MPMC queue
(https://www.1024cores.net/home/lock-free-algorithms/queues/bounded-mpmc-queue).  The ring is
bounded, so a program that keeps starting blocking kernels gets an error.
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
        # Acquire: the thread that took the task of the previous round has read it from the place.
        sequence = load_acquire(place)
        if sequence == number:
            if compare_and_swap(pool + at.POOL_TAIL, number, number + 1) != 0:
                # The place belongs to this thread until the sequence number marks it as full.
                store(place + 8, task)
                store_release(place, number + 1)
                return True
        elif sequence < number:
            # The task of the previous round is still in the place or is being taken.
            return False


@entry
def pool_pop(pool: Address) -> Address:
    """Take the oldest blocking task; return 0 if there is none."""
    capacity = load(pool + at.POOL_CAPACITY)
    while True:
        number = load_acquire(pool + at.POOL_HEAD)
        place = pool + at.POOL_CELLS + 16 * (number % capacity)
        sequence = load_acquire(place)
        if sequence == number + 1:
            if compare_and_swap(pool + at.POOL_HEAD, number, number + 1) != 0:
                # Read the task before the place becomes free for the next round.
                task = load(place + 8)
                store_release(place, number + capacity)
                return task
        elif sequence < number + 1:
            return 0


@native
def add_blocking_task(context: Address, task: Address) -> bool:
    """Hand `task` to the blocking pool; return False if the pool is full.

    The caller then owns the task again.
    """
    pool = load(context + at.CONTEXT_BLOCKING)
    if pool == 0 or not pool_push(pool, task):
        return False
    call_for_threads(context, pool)
    return True


@native
def call_for_threads(context: Address, pool: Address) -> None:
    """Wake an idle thread for waiting tasks, or request another thread.

    This is called by a thread that has added a task, and by a thread that has taken one and is
    about to block in it: the thread that added another task may have counted this second thread as
    idle.
    """
    # This orders the task before the read of the idle threads; an idle thread orders its arrival
    # before its last check of the ring. At least one of the two sees the other.
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
    """Take the next blocking task; return 0 if none arrives within `idle_ns` or the pool stops.

    A negative `idle_ns` means no limit.
    """
    task = pool_pop(pool)
    if task != 0:
        return task
    give_if_much(context)
    end = now() + idle_ns
    left = idle_ns
    # A return from the sleep is only a hint: another thread may have taken the task, or the epoch
    # may have changed before this thread slept. Only the clock can tell whether the idle time is
    # over.
    while task == 0 and load_acquire(pool + at.POOL_STOP) == 0 and (idle_ns < 0 or left > 0):
        task = await_blocking_task(context, pool, left)
        left = end - now() if idle_ns >= 0 else idle_ns
    return task


@native
def await_blocking_task(context: Address, pool: Address, timeout_ns: int) -> Address:
    """Sleep once, as an idle thread, unless the ring has a task; return a task, or 0."""
    fetch_add(pool + at.POOL_IDLE, 1)
    # Read the epoch before checking the ring: a task that is added after that changes the epoch,
    # and prevents the sleep.
    epoch = load_acquire(pool + at.POOL_EPOCH)
    fence()
    task = pool_pop(pool)
    if task == 0 and load_acquire(pool + at.POOL_STOP) == 0:
        advance_epoch(context)
        futex_wait(pool + at.POOL_EPOCH, epoch, timeout_ns)
        advance_epoch(context)
        task = pool_pop(pool)
    fetch_add(pool + at.POOL_IDLE, -1)
    # A thread that added a task while this one counted as idle did not request another thread, so
    # check the ring again after this thread no longer counts as idle.
    fence()
    return task if task != 0 else pool_pop(pool)
