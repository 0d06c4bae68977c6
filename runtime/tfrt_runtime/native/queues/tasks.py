"""Work queues: where tasks wait for a thread, and how threads sleep and wake.

A worker adds a task to its own Chase-Lev deque; any other thread adds it to the queue's injected
stack.  A worker pops its newest task, and thieves steal the oldest.  One `exchange` takes the whole
injected stack, so there is no ABA problem.

    new_task --add_task---------> deque of this worker, or injected stack; a sleeper is woken
             --add_local_task---> the same, but a worker wakes no thread: it will run the task
             --add_short_task---> list of this thread (CONTEXT_PENDING) -share_pending-> injected
             --add_start--------> QUEUE_STARTED, for root calls (`sharing`)
             --add_blocking_task> ring of the blocking pool (`blocking_pool`)

    find_task: own list, own deque (newest), injected stack, another deque (oldest)
    next_in_order: without workers, the oldest; the rest of an injected stack goes to QUEUE_ORDERED
    run_task:  function(context, task), which reads the words and frees the cell

The deque comes from Chase and Lev 2005, SPAA, "Dynamic Circular Work-Stealing Deque", with the
fences of Lê, Pop, Cohen, and Zappa Nardelli 2013, PPoPP, "Correct and Efficient Work-Stealing for
Weak Memory Models".  Unlike the array of their deque, ours does not grow: a task that does not fit
goes to the injected stack.

Sleeping threads wait for a change of the queue's epoch:

    a thread that adds work        a thread that found none
    1  make the work visible       1  read EPOCH, then SLEEPERS + 1
    2  fence                       2  fence
    3  a sleeper not notified?     3  search for work everywhere once more
    4    note it, EPOCH + 1, wake  4    none: sleep while EPOCH is what was read
                                   5  SLEEPERS - 1; starts over at 1 to sleep again

The fences order step 1 before step 3 on both sides, so at least one of the two threads sees the
other.  This is the store-load handshake of Dekker's algorithm (Dijkstra, EWD 123, "Cooperating
Sequential Processes", section 2.1).  If the sleeper misses the work, the adder sees the sleeper and
changes the epoch.  A sleeper that is not asleep yet then stays awake.

A wake-up takes longer than hundreds of small tasks.  A sleeper is *notified* while a wake-up is on
its way to it.  SLEEPERS counts notified sleepers separately.  An adder wakes no thread if all
sleepers are notified.  Each notified sleeper wakes up and searches for work.  A notified sleeper
that wakes up for another reason lets another thread search (`pass_on`).

Rejected alternatives:

- a growing array, because thieves may still be reading the old array when it is freed
- a deque with a lock, because its owner would take the lock for every task
- a condition variable, because every adder would take its lock even if no worker is asleep
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.cells import give_cell, take_cell
from tfrt_runtime.native.events import log_thread
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
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
from tfrt_runtime.native.queues.deques import (
    inject,
    inject_list,
    keep_tasks,
    pop_bottom,
    push_bottom,
    reverse_tasks,
    steal_top,
    take_injected,
    take_pending,
)

WORTH_STEALING_NS = 1_000
"""A stolen task that takes less time than this was not worth stealing.

The time includes all the work that the task makes ready.  For a shorter task, the thread from which
it was stolen would have been faster alone.
"""
REST_NS = 50_000
"""How long a thread naps after it has stolen a task that was not worth stealing, in ns."""


@native
def new_task(context: Address, function: Address, first: int, second: int, third: int) -> Address:
    """Make a task that calls `function(context, task)`.

    The function must free the task with `free_task`.
    """
    # Plain stores suffice: adding the task publishes the cell.
    task = take_cell(context)
    store(task + at.TASK_FUNCTION, function)
    store(task + at.TASK_FIRST, first)
    store(task + at.TASK_SECOND, second)
    store(task + at.TASK_THIRD, third)
    store(task + at.TASK_ACTIVATION, 0)
    return task


@native
def free_task(context: Address, task: Address) -> None:
    """Free a task's cell."""
    give_cell(context, task)


@native
def add_short_task(context: Address, task: Address) -> None:
    """Keep a short task for this thread.

    Call this only on a thread that runs kernels, because such a thread will run the task or call
    `sharing.hand_over`.
    """
    store(task + at.TASK_NEXT, 0)
    keep_tasks(context, task, task)


@native
def wake_sleeper(queue: Address) -> None:
    """If a worker is asleep and not notified, wake it to search for work."""
    # The fence makes the work that was just added visible before SLEEPERS is read. A thread that
    # goes to sleep makes its change of SLEEPERS visible before its last search for work. Therefore,
    # this thread sees the sleeper, or the sleeper finds the work.
    fence()
    if notify_sleeper(queue):
        fetch_add(queue + at.QUEUE_EPOCH, 1)
        futex_wake(queue + at.QUEUE_EPOCH, 1)


@inline
def sleepers(queue: Address) -> int:
    """Return the number of sleeping threads that are not notified."""
    return load_acquire(queue + at.QUEUE_SLEEPERS) & (at.SLEEPERS_NOTIFIED - 1)


@native
def free_threads(context: Address) -> int:
    """Return how many threads have nothing to do.

    These threads are sleeping, resting, searching for work, or waking up without work.  Waking up
    without work is common: the start of a run wakes a worker, but the thread that waits for the run
    takes the task first.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    counts = load_acquire(queue + at.QUEUE_SLEEPERS)
    free = counts & (at.SLEEPERS_NOTIFIED - 1)
    # An estimate: tasks may come and go at any moment.
    if not has_queued_task(context):
        free += counts // at.SLEEPERS_NOTIFIED
    return free + load_acquire(queue + at.QUEUE_RESTING) + seekers(context)


@native
def seekers(context: Address) -> int:
    """Return how many threads would find a new task without a wake-up; see `add_sought_task`."""
    return load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS)


@native
def notify_sleeper(queue: Address) -> bool:
    """Mark one sleeper as notified; return False if no sleeper needs a wake-up."""
    while True:
        counts = load_acquire(queue + at.QUEUE_SLEEPERS)
        if counts & (at.SLEEPERS_NOTIFIED - 1) == 0:
            return False
        notified = counts + at.SLEEPERS_NOTIFIED - 1
        # The swap prevents two adders from relying on the same sleeper.
        if compare_and_swap(queue + at.QUEUE_SLEEPERS, counts, notified) != 0:
            return True


@native
def arrive(queue: Address) -> int:
    """Announce that this thread will sleep unless it finds work now.

    Return the epoch for `futex_wait`.
    """
    # Read the epoch first: an adder that sees this thread changes the epoch, so the thread stays
    # awake.
    epoch = load_acquire(queue + at.QUEUE_EPOCH)
    fetch_add(queue + at.QUEUE_SLEEPERS, 1)
    fence()
    return epoch


@native
def depart(queue: Address) -> None:
    """Stop counting this thread as a sleeper."""
    while True:
        counts = load_acquire(queue + at.QUEUE_SLEEPERS)
        # Any thread may subtract a notification, because each wake-up makes at least one thread
        # leave.
        left = counts - at.SLEEPERS_NOTIFIED if counts >= at.SLEEPERS_NOTIFIED else counts - 1
        if compare_and_swap(queue + at.QUEUE_SLEEPERS, counts, left) != 0:
            return


@native
def pass_on(context: Address) -> None:
    """If there is work, wake another thread, because this thread stops without a search."""
    # An adder that has seen this thread among the sleepers or seekers wakes no other thread. The
    # fence orders this thread's departure before its check, and the adder's fence orders the task
    # before the read of the counts. Either this thread sees the task, or the adder does not count
    # this thread.
    fence()
    if has_task(context):
        wake_sleeper(load(context + at.CONTEXT_QUEUE))


@native
def wake_all(queue: Address) -> None:
    """Make every sleeper check its condition again."""
    fence()
    # A wake-up is already on its way to each notified sleeper.
    if sleepers(queue) > 0:
        fetch_add(queue + at.QUEUE_EPOCH, 1)
        futex_wake(queue + at.QUEUE_EPOCH, 1 << 30)


@native
def wake_waiting(queue: Address) -> None:
    """Wake every thread that is waiting for a word to become 0, because some word has."""
    # As in `wake_sleeper`: the word must be written before the counts are read.
    fence()
    if load_acquire(queue + at.QUEUE_WAITING) > 0:
        wake_all(queue)
    if load_acquire(queue + at.QUEUE_WATCHERS) > 0:
        fetch_add(queue + at.QUEUE_NEWS, 1)
        futex_wake(queue + at.QUEUE_NEWS, 1 << 30)


@native
def add_task(context: Address, task: Address) -> None:
    """Add a task to this thread's queue, and wake a sleeper, if any."""
    queue = load(context + at.CONTEXT_QUEUE)
    deque = load(context + at.CONTEXT_DEQUE)
    if deque == 0 or not push_bottom(deque, task):
        inject(queue, task)
    wake_sleeper(queue)


@native
def add_sought_task(context: Address, task: Address) -> None:
    """Add a task as `add_task` does, but wake no thread while another thread is searching for work.

    Call this only on a thread with a deque, which runs the task if no other thread finds it.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    if not push_bottom(load(context + at.CONTEXT_DEQUE), task):
        inject(queue, task)
    # This fence orders the task before the read of SEEKERS. A thread subtracts itself from SEEKERS
    # before its last search, with the fence of `arrive` in between. Either that thread finds the
    # task, or this thread does not count it.
    fence()
    if load_acquire(queue + at.QUEUE_SEEKERS) == 0:
        wake_sleeper(queue)


@native
def add_local_task(context: Address, task: Address) -> None:
    """Add a short task as `add_task` does, but wake no thread if this thread is already working.

    A thread with a deque later runs the task itself, unless another thread steals it.
    """
    deque = load(context + at.CONTEXT_DEQUE)
    if deque == 0 or not push_bottom(deque, task):
        inject(load(context + at.CONTEXT_QUEUE), task)
        if load(context + at.CONTEXT_WORKER) < 0:
            wake_sleeper(load(context + at.CONTEXT_QUEUE))


@native
def next_random(context: Address) -> int:
    """Return a nonnegative pseudo-random number from this thread's generator.

    The generator is Marsaglia's xorshift (2003, Journal of Statistical Software 8(14), "Xorshift
    RNGs"), cut to 63 bits.
    """
    number = load(context + at.CONTEXT_RANDOM)
    number ^= (number << 13) & 0x7FFFFFFFFFFFFFFF
    number ^= number >> 7
    number ^= (number << 17) & 0x7FFFFFFFFFFFFFFF
    store(context + at.CONTEXT_RANDOM, number)
    return number


@native
def steal_task(context: Address) -> Address:
    """Search the other deques once, from a random start; return a stolen task or 0."""
    queue = load(context + at.CONTEXT_QUEUE)
    workers = load(queue + at.QUEUE_WORKERS)
    if workers == 0:
        return 0
    deques = load(queue + at.QUEUE_DEQUES)
    # If all thieves started at the same deque, only one would succeed.
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
    """Return the first task of a list, and add the other tasks to this thread's deque.

    If they do not fit, this thread keeps the older half of the rest and injects the newer half
    again.  Each task is therefore injected only a few times.
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
    """Push the tasks of a list onto this thread's deque; return the rest of the list, or 0."""
    deque = load(context + at.CONTEXT_DEQUE)
    while deque != 0 and task != 0:
        following = load(task + at.TASK_NEXT)
        if not push_bottom(deque, task):
            return task
        task = following
    return task


@native
def give_back_half(context: Address, task: Address) -> None:
    """Keep the older half of a list of tasks for this thread, and inject the newer half again.

    Even if no other thread takes any, n tasks are halved only log n times, in n steps in total.
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
    """Return the next task for this thread, stealing one if necessary, or 0."""
    task = own_task(context)
    return task if task != 0 else steal_task(context)


@native
def own_task(context: Address) -> Address:
    """Return the next task without stealing, or 0.

    Search the tasks that this thread keeps, then its deque (newest first), then the injected stack.
    """
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
    """Return whether this thread could now take a task or start a root call."""
    started = load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_STARTED)
    return started != 0 or has_queued_task(context)


@native
def has_queued_task(context: Address) -> bool:
    """Return whether this thread could now take a task, not counting root calls to start."""
    return load(context + at.CONTEXT_PENDING) != 0 or has_common_task(
        load(context + at.CONTEXT_QUEUE)
    )


@native
def has_common_task(queue: Address) -> bool:
    """Return whether the queue has a task that any of its threads may take.

    The answer may be out of date: another thread may have taken the task.
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
    """Add 1 to this thread's activity epoch, which is odd while the thread may hold work."""
    # Release: a thread that reads an even epoch must also see where this thread has put its work.
    store_release(context + at.CONTEXT_EPOCH, load(context + at.CONTEXT_EPOCH) + 1)


@native
def must_wait(queue: Address, word: Address) -> bool:
    """Return True until the event that a thread is waiting for has happened.

    The event is that the word at `word` becomes 0 or, if `word` is 0, that the queue stops.
    """
    if word == 0:
        return load_acquire(queue + at.QUEUE_STOP) == 0
    return load_acquire(word) != 0


@native
def begin_seeking(context: Address) -> None:
    """Count this thread as searching for work, until `end_seeking`."""
    fetch_add(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS, 1)


@native
def end_seeking(context: Address) -> None:
    """Stop counting this thread as searching for work.

    Unless the thread has found work, it must search once more after this call.
    """
    # `add_sought_task` relies on this coming before the fence of the last search (in `arrive`).
    fetch_add(load(context + at.CONTEXT_QUEUE) + at.QUEUE_SEEKERS, -1)


@native
def rest(context: Address) -> None:
    """Nap, so that other threads can run their own short tasks.

    A napping thread does not count as a sleeper; if it did, other threads would wake it for each
    new task.  A task that no other thread takes waits until the nap is over.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    fetch_add(queue + at.QUEUE_RESTING, 1)
    advance_epoch(context)
    futex_wait(queue + at.QUEUE_STOP, 0, REST_NS)
    advance_epoch(context)
    fetch_add(queue + at.QUEUE_RESTING, -1)


@native
def sleep_on_queue(context: Address, word: Address, timeout_ns: int) -> None:
    """Sleep until there may be work, the event has happened, or the time has passed.

    `must_wait` describes the event.  Return immediately if there already is work or if the event
    has already happened.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    # The module's docstring explains the order of the next steps.
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
    """Sleep until `word` may be 0 or the time has passed; take no tasks.

    Threads that take no tasks sleep on a separate futex word, because a wake-up for a task wakes
    only one thread, which must take the task.
    """
    fetch_add(queue + at.QUEUE_WATCHERS, 1)
    news = load_acquire(queue + at.QUEUE_NEWS)
    # This fence orders the change of WATCHERS before the read of the word. `wake_waiting` orders
    # the word before its read of WATCHERS. At least one of the two sees the other.
    fence()
    if load_acquire(word) != 0:
        futex_wait(queue + at.QUEUE_NEWS, news, timeout_ns)
    fetch_add(queue + at.QUEUE_WATCHERS, -1)
