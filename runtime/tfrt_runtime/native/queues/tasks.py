"""Work queues: where tasks wait for a thread.

Compute tasks go to a Chase-Lev deque when a worker of the queue adds them (it pops the newest, thieves
take the oldest), and to one injected stack when any other thread does.  Consumers take the injected stack
whole, by one `exchange`, and run it in order: no node is popped under contention, so there is no ABA.

    new_task --add_task---------> deque of this worker, or injected stack; a sleeper is woken
             --add_local_task---> the same, without a wake-up on a worker, which comes back to it
             --add_short_task---> list of this thread (CONTEXT_PENDING) --share_pending--> injected stack
             --add_start--------> QUEUE_STARTED, for calls from outside (`starting`)
             --add_blocking_task> ring of the blocking pool (`blocking_pool`)

    find_task: own list, own deque (newest), injected stack, another deque (oldest)
    next_in_order: without workers, the oldest; the rest of an injected stack goes to QUEUE_ORDERED
    run_task:  function(context, task), which reads the words and frees the cell

Sleepers wait on an epoch, not on a queue:

    a thread that adds work        a thread that found none
    1  make the work visible       1  read EPOCH, then SLEEPERS + 1
    2  fence                       2  fence
    3  a sleeper not notified?     3  look for work everywhere once more
    4    note it, EPOCH + 1, wake  4    none: sleep while EPOCH is what was read
                                   5  SLEEPERS - 1; from 1 before it sleeps again

The fences order 1 before 3 on both sides, so that at least one of them sees the other.  If the sleeper
misses the work, the adder sees the sleeper, and changes the epoch before it wakes: a sleeper that has not
fallen asleep yet does not.

A wake-up takes longer than hundreds of small tasks.  So SLEEPERS counts apart those that one is on its way
to: while all are notified, an adder wakes none.  Each of them leaves after that, and looks for work again; a
thread that waits for something else, and has it now, lets another one look (`pass_on`).
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import give_cell, take_cell
from tfrt_runtime.native.events import log_thread
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    fence,
    fetch_add,
    futex_wait,
    futex_wake,
    inline,
    load,
    load_acquire,
    native,
    store,
    store_release,
)
from tfrt_runtime.native.stacks import push, push_list, take_all

WORTH_STEALING_NS = 1_000
"""A stolen task that took less time, with all that it made ready: its owner would have been faster alone."""
REST_NS = 50_000
"""A thief of such tasks lets their owner alone for so long."""


@native
def new_task(context: Address, function: Address, first: int, second: int, third: int) -> Address:
    """A task cell; `function(context, task)` reads it and gives it back with `free_task`."""
    # Plain stores: the deque, the stack or the ring publishes the cell.
    task = take_cell(context)
    store(task + at.TASK_FUNCTION, function)
    store(task + at.TASK_FIRST, first)
    store(task + at.TASK_SECOND, second)
    store(task + at.TASK_THIRD, third)
    store(task + at.TASK_ACTIVATION, 0)
    return task


@native
def free_task(context: Address, task: Address) -> None:
    """Give a task cell back."""
    give_cell(context, task)


@native
def push_bottom(deque: Address, task: Address) -> bool:
    """Owner only: add the newest task; False when the deque is full."""
    # Only the owner writes `bottom`; a `top` that is out of date makes the deque look fuller than it is.
    bottom = load_acquire(deque + at.DEQUE_BOTTOM)
    top = load_acquire(deque + at.DEQUE_TOP)
    if bottom - top >= at.DEQUE_CAPACITY:
        return False
    # A thief may read the slot while it is written again, but then its compare_and_swap fails.  The slot
    # comes before the bottom: a thief that sees the bottom sees the task.
    store_release(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)), task)
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return True


@native
def pop_bottom(deque: Address) -> Address:
    """Owner only: take the newest task, or 0."""
    bottom = load_acquire(deque + at.DEQUE_BOTTOM) - 1
    # Empty: no thread adds but this one, so that the answer cannot change.  It saves the fence.
    if load_acquire(deque + at.DEQUE_TOP) > bottom:
        return 0
    store_release(deque + at.DEQUE_BOTTOM, bottom)
    # The new bottom must be visible before top is read, or owner and thief both take the last task.
    fence()
    top = load_acquire(deque + at.DEQUE_TOP)
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (bottom & (at.DEQUE_CAPACITY - 1)))
    if top < bottom:
        return task
    # The last task: the thread that moves top first has it.  Either way the deque is empty then, with
    # top at bottom + 1.
    if top > bottom or compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        task = 0
    store_release(deque + at.DEQUE_BOTTOM, bottom + 1)
    return task


@native
def steal_top(deque: Address) -> Address:
    """Any thread: take the oldest task, or 0 when there is none or another thread was faster."""
    top = load_acquire(deque + at.DEQUE_TOP)
    # Pairs with the fence of pop_bottom: top must be read before bottom.
    fence()
    if top >= load_acquire(deque + at.DEQUE_BOTTOM):
        return 0
    # Read before the swap: after it, the owner may fill the slot again.
    task = load_acquire(deque + at.DEQUE_TASKS + 8 * (top & (at.DEQUE_CAPACITY - 1)))
    if compare_and_swap(deque + at.DEQUE_TOP, top, top + 1) == 0:
        return 0
    return task


@native
def inject(queue: Address, task: Address) -> None:
    """Any thread: add a task to the injected stack."""
    push(queue + at.QUEUE_INJECTED, task, at.TASK_NEXT)


@native
def inject_list(queue: Address, newest: Address, oldest: Address) -> None:
    """Any thread: add tasks to the injected stack that are linked from the newest to the oldest."""
    push_list(queue + at.QUEUE_INJECTED, newest, oldest, at.TASK_NEXT)


@native
def reverse_tasks(task: Address) -> Address:
    """Turn a list of tasks around; returns its new first one."""
    first = 0
    while task != 0:
        following = load(task + at.TASK_NEXT)
        store(task + at.TASK_NEXT, first)
        first = task
        task = following
    return first


@native
def take_injected(queue: Address) -> Address:
    """Take all injected tasks at once, as a list in the order in which they came, or 0."""
    return reverse_tasks(take_all(queue + at.QUEUE_INJECTED))


@native
def keep_injected(context: Address) -> None:
    """Take all injected tasks for this thread alone, behind those that it keeps.

    For queues without workers, where Python chooses the next task.
    """
    newest = take_all(load(context + at.CONTEXT_QUEUE) + at.QUEUE_INJECTED)
    if newest != 0:
        keep_tasks(context, reverse_tasks(newest), newest)


@entry
def take_tasks(queue: Address) -> Address:
    """Take tasks that came to a queue without workers, as a list by TASK_NEXT from the oldest on, or 0."""
    task = take_all(queue + at.QUEUE_ORDERED)
    return task if task != 0 else take_injected(queue)


@native
def next_in_order(context: Address) -> Address:
    """The oldest task of a queue without workers, also of those that this thread keeps; or 0.

    The others stay where other threads find them: one that waits for many results, one after the other, would
    move all of them each time.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    task = take_all(queue + at.QUEUE_ORDERED)
    if task == 0:
        task = take_pending(context)
        if task != 0:
            return task
        task = take_injected(queue)
        # Coroutines count anew with each round of tasks: what a round spawns is bounded so, and a
        # recursion goes on depth first.
        store(context + at.CONTEXT_SPAWNED, 0)
    if task != 0 and load(task + at.TASK_NEXT) != 0:
        put_back(queue, load(task + at.TASK_NEXT))
    return task


@native
def put_back(queue: Address, oldest: Address) -> None:
    """Let other threads have tasks of a queue without workers that this thread has taken."""
    # One word, without a second one for the newest task: a thread could read one of them before another
    # thread's swap, and the other after it.
    if compare_and_swap(queue + at.QUEUE_ORDERED, 0, oldest) == 0:
        # Another thread has put tasks back, which it took while this one had these.
        inject_list(queue, reverse_tasks(oldest), oldest)


@inline
def keep_tasks(context: Address, first: Address, last: Address) -> None:
    """Add a list of tasks to those that this thread keeps for itself."""
    if load(context + at.CONTEXT_PENDING) == 0:
        store(context + at.CONTEXT_PENDING, first)
    else:
        store(load(context + at.CONTEXT_PENDING_LAST) + at.TASK_NEXT, first)
    store(context + at.CONTEXT_PENDING_LAST, last)


@inline
def take_pending(context: Address) -> Address:
    """The first of the tasks that this thread keeps, or 0."""
    task = load(context + at.CONTEXT_PENDING)
    if task != 0:
        store(context + at.CONTEXT_PENDING, load(task + at.TASK_NEXT))
    return task


@native
def add_short_task(context: Address, task: Address) -> None:
    """Keep a task for this thread that is not worth another one's attention.

    Only for a thread that runs kernels: it comes back to its tasks, or calls `sharing.hand_over`.
    """
    store(task + at.TASK_NEXT, 0)
    keep_tasks(context, task, task)


@native
def wake_sleeper(queue: Address) -> None:
    """Wake one sleeping worker, if there is one, so that it seeks work."""
    # Order the work that was just added before the read of the sleepers; a sleeper orders its
    # arrival before its last search for work.  One of the two sees the other.
    fence()
    if notify_sleeper(queue):
        fetch_add(queue + at.QUEUE_EPOCH, 1)
        futex_wake(queue + at.QUEUE_EPOCH, 1)


@inline
def sleepers(queue: Address) -> int:
    """How many threads sleep that no wake-up is on its way to."""
    return load_acquire(queue + at.QUEUE_SLEEPERS) & (at.SLEEPERS_NOTIFIED - 1)


@native
def free_threads(context: Address) -> int:
    """How many threads have nothing to do: they sleep, rest or seek work, or wake up and will find no task.

    The last kind is common: the start of a run wakes a worker, and the thread that waits for the run takes its
    task before the worker is awake.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    counts = load_acquire(queue + at.QUEUE_SLEEPERS)
    free = counts & (at.SLEEPERS_NOTIFIED - 1)
    # A guess, as all such counts: tasks may come and go at any moment.
    if not has_queued_task(context):
        free += counts // at.SLEEPERS_NOTIFIED
    return free + load_acquire(queue + at.QUEUE_RESTING) + seekers(context)


@native
def seekers(context: Address) -> int:
    """How many threads would find a task of this thread's without a wake-up: `add_sought_task`."""
    return load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS)


@native
def notify_sleeper(queue: Address) -> bool:
    """Count a wake-up that is on its way; False if there is no sleeper for it."""
    while True:
        counts = load_acquire(queue + at.QUEUE_SLEEPERS)
        if counts & (at.SLEEPERS_NOTIFIED - 1) == 0:
            return False
        notified = counts + at.SLEEPERS_NOTIFIED - 1
        # A read-modify-write: two adders must not count on one sleeper.
        if compare_and_swap(queue + at.QUEUE_SLEEPERS, counts, notified) != 0:
            return True


@native
def arrive(queue: Address) -> int:
    """This thread is about to sleep, unless it finds work now; the epoch to sleep on."""
    # The epoch first: a wake-up that counts on this thread changes it after that, so that the thread does not sleep.
    epoch = load_acquire(queue + at.QUEUE_EPOCH)
    fetch_add(queue + at.QUEUE_SLEEPERS, 1)
    fence()
    return epoch


@native
def depart(queue: Address) -> None:
    """This thread does not sleep any more."""
    while True:
        counts = load_acquire(queue + at.QUEUE_SLEEPERS)
        # Whether it was this thread that was notified does not matter: each wake-up lets one thread leave at least.
        left = counts - at.SLEEPERS_NOTIFIED if counts >= at.SLEEPERS_NOTIFIED else counts - 1
        if compare_and_swap(queue + at.QUEUE_SLEEPERS, counts, left) != 0:
            return


@native
def pass_on(context: Address) -> None:
    """This thread leaves without a look for work: let another one look, if there is some."""
    # The thread may be the one that the last wake-up was for, or the seeker that an adder has counted on; such an
    # adder wakes no other.  The fence orders its departure before the look, as the adder's orders the task before the
    # read of the counts: either this thread sees the task, or the adder does not count on it.
    fence()
    if has_task(context):
        wake_sleeper(load(context + at.CONTEXT_QUEUE))


@native
def wake_all(queue: Address) -> None:
    """Let every sleeper check again."""
    fence()
    # Sleepers that are notified need no more: for each of them a wake-up is on its way.
    if sleepers(queue) > 0:
        fetch_add(queue + at.QUEUE_EPOCH, 1)
        futex_wake(queue + at.QUEUE_EPOCH, 1 << 30)


@native
def wake_waiting(queue: Address) -> None:
    """A word has become 0: let every thread check again that sleeps and may wait for it."""
    # As in `wake_sleeper`: the word comes before the read of the counts.
    fence()
    if load_acquire(queue + at.QUEUE_WAITING) > 0:
        wake_all(queue)
    if load_acquire(queue + at.QUEUE_WATCHERS) > 0:
        fetch_add(queue + at.QUEUE_NEWS, 1)
        futex_wake(queue + at.QUEUE_NEWS, 1 << 30)


@native
def add_task(context: Address, task: Address) -> None:
    """Add a compute task to this thread's queue; wakes a sleeper when there is one."""
    queue = load(context + at.CONTEXT_QUEUE)
    deque = load(context + at.CONTEXT_DEQUE)
    if deque == 0 or not push_bottom(deque, task):
        inject(queue, task)
    wake_sleeper(queue)


@native
def add_sought_task(context: Address, task: Address) -> None:
    """As `add_task`, but where a thread seeks work without sleep, no other one is woken.

    Only for a thread that owns a deque: it comes back to the task if the seeker has found another one.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if not push_bottom(load(context + at.CONTEXT_DEQUE), task):
        inject(queue, task)
    # Order the task before the read of the seekers.  A thread that ceases to be one leaves the count before its last
    # look for work, with the fence of `arrive` in between: either it finds the task, or this thread does not count on it.
    fence()
    if load_acquire(queue + at.QUEUE_SEEKERS) == 0:
        wake_sleeper(queue)


@native
def add_local_task(context: Address, task: Address) -> None:
    """Add a short task: as `add_task`, but not worth a wake-up on a thread that works itself.

    A thread that owns a deque comes back to it; others take from it when they seek work.
    """
    deque = load(context + at.CONTEXT_DEQUE)
    if deque == 0 or not push_bottom(deque, task):
        inject(load(context + at.CONTEXT_QUEUE), task)
        if load(context + at.CONTEXT_WORKER) < 0:
            wake_sleeper(load(context + at.CONTEXT_QUEUE))


@native
def next_random(context: Address) -> int:
    """A pseudo-random number of this thread, 0 or more (xorshift)."""
    number = load(context + at.CONTEXT_RANDOM)
    number ^= (number << 13) & 0x7FFFFFFFFFFFFFFF
    number ^= number >> 7
    number ^= (number << 17) & 0x7FFFFFFFFFFFFFFF
    store(context + at.CONTEXT_RANDOM, number)
    return number


@native
def steal_task(context: Address) -> Address:
    """One sweep over the other workers' deques from a random start; a task or 0."""
    queue = load(context + at.CONTEXT_QUEUE)
    workers = load(queue + at.QUEUE_WORKERS)
    if workers == 0:
        return 0
    deques = load(queue + at.QUEUE_DEQUES)
    # A random start: of thieves that all begin at the first deque, one succeeds and the others' swaps fail.
    start = next_random(context) % workers
    for i in range(workers):
        deque = load(deques + 8 * ((start + i) % workers))
        if deque != load(context + at.CONTEXT_DEQUE):
            task = steal_top(deque)
            if task != 0:
                log_thread(context, at.LOG_STEAL)
                return task
    return 0


@native
def spread_injected(context: Address, task: Address) -> Address:
    """Take the first of a list to run now; put the others where other threads can reach them.

    What finds no room in this thread's deque goes back, but for as many as went into the deque, which
    this thread keeps: so each task goes back a few times at most, however many there are.
    """
    rest = load(task + at.TASK_NEXT)
    if rest == 0:
        return task
    rest = push_tasks(context, rest)
    if rest != 0:
        give_back_half(context, rest)
    wake_sleeper(load(context + at.CONTEXT_QUEUE))
    return task


@native
def push_tasks(context: Address, task: Address) -> Address:
    """Put tasks of a list into this thread's deque; the list of those that find no room, or 0."""
    deque = load(context + at.CONTEXT_DEQUE)
    while deque != 0 and task != 0:
        following = load(task + at.TASK_NEXT)
        if not push_bottom(deque, task):
            return task
        task = following
    return task


@native
def give_back_half(context: Address, task: Address) -> None:
    """Keep the older half of a list of tasks for this thread, and inject the other half again.

    A list of n tasks that no other thread takes is halved log n times: n steps in all.
    """
    last = task
    ahead = load(task + at.TASK_NEXT)
    while ahead != 0:
        ahead = load(ahead + at.TASK_NEXT)
        if ahead != 0:
            ahead = load(ahead + at.TASK_NEXT)
            last = load(last + at.TASK_NEXT)
    newer = load(last + at.TASK_NEXT)
    store(last + at.TASK_NEXT, 0)
    keep_tasks(context, task, last)
    if newer != 0:
        newest = reverse_tasks(newer)
        inject_list(load(context + at.CONTEXT_QUEUE), newest, newer)


@native
def find_task(context: Address) -> Address:
    """The next task for this thread, or 0: one of its own or a stolen one."""
    task = own_task(context)
    return task if task != 0 else steal_task(context)


@native
def own_task(context: Address) -> Address:
    """The next task that is no other thread's, or 0: one that it keeps, its deque's newest, injected."""
    kept = take_pending(context)
    if kept != 0:
        return kept
    deque = load(context + at.CONTEXT_DEQUE)
    if deque != 0:
        task = pop_bottom(deque)
        if task != 0:
            return task
    task = take_injected(load(context + at.CONTEXT_QUEUE))
    return spread_injected(context, task) if task != 0 else 0


@native
def has_task(context: Address) -> bool:
    """Whether there is a task, or a call that was started, that this thread can take now."""
    started = load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_STARTED)
    return started != 0 or has_queued_task(context)


@native
def has_queued_task(context: Address) -> bool:
    """Whether there is a task for this thread that begins no call."""
    return load(context + at.CONTEXT_PENDING) != 0 or has_common_task(
        load(context + at.CONTEXT_QUEUE)
    )


@native
def has_common_task(queue: Address) -> bool:
    """Whether there is a task that any thread of the queue takes.

    Conservative for the deques: a task may be gone when a thread comes for it.
    """
    if load_acquire(queue + at.QUEUE_INJECTED) != 0 or load_acquire(queue + at.QUEUE_ORDERED) != 0:
        return True
    deques = load(queue + at.QUEUE_DEQUES)
    for i in range(load(queue + at.QUEUE_WORKERS)):
        deque = load(deques + 8 * i)
        if load_acquire(deque + at.DEQUE_TOP) < load_acquire(deque + at.DEQUE_BOTTOM):
            return True
    return False


@native
def advance_epoch(context: Address) -> None:
    """Toggle this thread's activity epoch, which it alone writes: odd while it may hold work."""
    # Release: a thread that reads an even epoch sees where the work went that was held before.
    store_release(context + at.CONTEXT_EPOCH, load(context + at.CONTEXT_EPOCH) + 1)


@native
def must_wait(queue: Address, word: Address) -> bool:
    """Whether `word` is not 0 yet; without a word (0), whether the queue has not stopped."""
    if word == 0:
        return load_acquire(queue + at.QUEUE_STOP) == 0
    return load_acquire(word) != 0


@native
def begin_seeking(context: Address) -> None:
    """From here to `end_seeking` this thread looks for work again and again."""
    fetch_add(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS, 1)


@native
def end_seeking(context: Address) -> None:
    """This thread has found work, or looks for it once more before it sleeps (`arrive`)."""
    # A read-modify-write, before the fence of that last look: see `add_sought_task`.
    fetch_add(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS, -1)


@native
def rest(context: Address) -> None:
    """Leave the tasks of other threads to them for a while.

    Not as a sleeper, whom they would wake for each new task.  What no other thread has waits for the end of the nap.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    fetch_add(queue + at.QUEUE_RESTING, 1)
    advance_epoch(context)
    futex_wait(queue + at.QUEUE_STOP, 0, REST_NS)
    advance_epoch(context)
    fetch_add(queue + at.QUEUE_RESTING, -1)


@native
def sleep_on_queue(context: Address, word: Address, timeout_ns: int) -> None:
    """Sleep until work may have come, `word` may have become 0, or the time is over.

    Without a `word` (0), until the queue stops.  Returns at once when there is work, or when what
    is waited for has happened by now: it may have since the caller checked.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    # The order of the next lines is the handshake of the module's docstring.
    waits = 1 if word != 0 else 0
    fetch_add(queue + at.QUEUE_WAITING, waits)
    epoch = arrive(queue)
    if not has_task(context) and must_wait(queue, word):
        advance_epoch(context)
        log_thread(context, at.LOG_PARK)
        futex_wait(queue + at.QUEUE_EPOCH, epoch, timeout_ns)
        log_thread(context, at.LOG_WAKE)
        advance_epoch(context)
    depart(queue)
    fetch_add(queue + at.QUEUE_WAITING, -waits)


@native
def watch(queue: Address, word: Address, timeout_ns: int) -> None:
    """Sleep until `word` may have become 0, or the time is over, and leave the tasks to other threads.

    A futex word of its own: a wake-up for a task, which wakes one thread, must not go to a thread
    that takes none.
    """
    fetch_add(queue + at.QUEUE_WATCHERS, 1)
    news = load_acquire(queue + at.QUEUE_NEWS)
    # Order the arrival before the read of the word; `wake_waiting` orders the word before its read of
    # the watchers.  One of the two sees the other.
    fence()
    if load_acquire(word) != 0:
        futex_wait(queue + at.QUEUE_NEWS, news, timeout_ns)
    fetch_add(queue + at.QUEUE_WATCHERS, -1)
