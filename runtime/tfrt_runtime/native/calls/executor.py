"""The run loop: takes ready kernels and tasks and runs them, one thread's part of a BEF program.

The loop never waits and never takes a lock, and nothing in it recurses.  Its threads are workers, threads that wait
for a result (`help_until`, `python_waits`), those of the blocking pool, and those of a user's queue.

For a user's queue the native queue is a letter box that Python empties.  The emptying thread hands each task to the
user's queue.  On a thread of that queue `run_one` runs a task and leaves in the letter box again what became ready, so
that the user's queue decides what runs where, and in which order.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references, drop_reference, new_indirect
from tfrt_runtime.native.calls.activation import (
    begin,
    end_activation,
    end_join,
    new_activation,
    refuse_root,
    root_size,
)
from tfrt_runtime.native.calls.delivery import deliver, deliver_later
from tfrt_runtime.native.calls.kernel_calls import (
    fail_kernel_with,
    run_kernel,
    run_small_kernel,
    run_unusual_kernel,
)
from tfrt_runtime.native.calls.machine_calls import start_machine
from tfrt_runtime.native.cells import need_block
from tfrt_runtime.native.memory import (
    Address,
    call2,
    entry,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    now,
    outline,
    pause,
    store,
    time_left,
)
from tfrt_runtime.native.queues.blocking_pool import call_for_threads, take_blocking_task
from tfrt_runtime.native.queues.ready import push_ready
from tfrt_runtime.native.queues.sharing import SLICE_NS, enqueue_entry, hand_over, share_when_idle
from tfrt_runtime.native.queues.starting import add_start, sleep_or_nap, take_start
from tfrt_runtime.native.queues.tasks import (
    WORTH_STEALING_NS,
    advance_epoch,
    begin_seeking,
    end_seeking,
    find_task,
    free_task,
    has_task,
    keep_injected,
    new_task,
    next_in_order,
    own_task,
    pass_on,
    rest,
    sleep_on_queue,
    steal_task,
    take_pending,
    watch,
)

SHARE_INTERVAL = 1024
"""Kernels between two checks whether another worker sleeps: about 20 us, what a wake-up costs."""
WAITERS_BUDGET = 4096
"""Short kernels between two reads of the clock by a waiting thread: some 50 us."""
SPIN_ROUNDS = 200
ENDLESS = 1 << 60


@entry
def start_call(
    context: Address, function: Address, request: Address, values: Address, is_task: int
) -> None:
    """Start a call from outside: as a task of the queue, or with its first kernels on this thread.

    Args:
        values: one AsyncValue per argument, borrowed; then room for one per result, where the
            caller finds unavailable values with a reference of its own.
    """
    arguments = load(function + at.FUNCTION_ARGUMENTS)
    given = values + 8 * arguments
    make_results(context, function, given)
    table = new_table(context, function, given)
    for i in range(arguments):
        value = load(values + 8 * i)
        add_references(value, 1)
        store(table + 8 * (load(function + at.FUNCTION_RESULTS) + i), value)
    start_table(context, function, request, table, is_task)


@native
def make_results(context: Address, function: Address, place: Address) -> None:
    """Write the unavailable results of a call to `place`: a reference is the caller's, one its table's."""
    for i in range(load(function + at.FUNCTION_RESULTS)):
        value = new_indirect(context)
        store(value + at.VALUE_REFERENCES, 2)
        store(value + at.VALUE_PAYLOAD, at.INDIRECT_COPIES)
        store(place + 8 * i, value)


@native
def new_table(context: Address, function: Address, results: Address) -> Address:
    """What a call from outside begins with: its results, which `make_results` has made, and room for arguments."""
    table = need_block(context, root_size(function))
    for i in range(load(function + at.FUNCTION_RESULTS)):
        store(table + 8 * i, load(results + 8 * i))
    return table


@native
def start_table(
    context: Address, function: Address, request: Address, table: Address, is_task: int
) -> None:
    """Start a call from outside.  Takes ownership of `table`: an indirect value per result, then one per argument."""
    # The host was cancelled before: what is given back is an error, too, whichever thread would be the first.
    if load_acquire(request + at.REQUEST_CANCEL) != 0:
        refuse_call(context, function, request, table)
    elif is_task != 0:
        run = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ROOT)
        add_start(context, new_task(context, run, function, request, table))
    else:
        start_root(context, function, request, table)


@entry
def run_root(context: Address, task: Address) -> None:
    """Task function: a call from outside begins, on the thread that runs it."""
    function = load(task + at.TASK_FIRST)
    request = load(task + at.TASK_SECOND)
    table = load(task + at.TASK_THIRD)
    free_task(context, task)
    begin_table(context, function, request, table)


@native
def begin_table(context: Address, function: Address, request: Address, table: Address) -> None:
    """Begin a call from outside within a task, perhaps as machine code.  Takes ownership of `table`."""
    # Not where a call is started directly: machine code runs to its end, and the thread that starts a call may be the one
    # that would cancel it.
    if load(function + at.FUNCTION_MACHINE) != 0:
        name_call(context, request)
        if start_machine(context, function, request, table):
            return
    start_root(context, function, request, table)


@inline
def name_call(context: Address, request: Address) -> None:
    """An error for lack of memory names the call, not the kernel that this thread ran last."""
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_RECORD, 0)


@native
def start_root(context: Address, function: Address, request: Address, table: Address) -> None:
    """Begin the outermost call of a run.  Its first kernels become ready on this thread.

    Takes ownership of `table`, as `start_table` does.
    """
    name_call(context, request)
    activation = new_activation(context, function, request, at.RETURN_ROOT, 0, table, 0)
    if activation == 0:
        refuse_call(context, function, request, table)
        return
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    given = table + 8 * load(function + at.FUNCTION_RESULTS)
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        deliver(context, activation, load(slots + 8 * i), load(given + 8 * i))
    begin(context, activation)


@outline
def refuse_call(context: Address, function: Address, request: Address, table: Address) -> None:
    """A call from outside does not begin: its run is cancelled, or there is no memory for it.

    Takes ownership of `table`, as `start_table` does.
    """
    given = table + 8 * load(function + at.FUNCTION_RESULTS)
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        drop_reference(context, load(given + 8 * i))
    refuse_root(context, function, request, table)


@entry
def run_entry(context: Address, task: Address) -> None:
    """Task function: a ready kernel that was shared."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        run_ready_entry(context, activation, record)
        return
    push_ready(context, activation, record)


@entry
def run_blocking(context: Address, task: Address) -> None:
    """Task function of the blocking pool: run the kernel that was handed over."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    run_unusual_kernel(context, activation, record, True)


@native
def run_ready(context: Address, budget: int) -> int:
    """Run ready kernels, newest first, until there is none or the budget is used; what is left of it."""
    base = load(context + at.CONTEXT_READY)
    # Schedules are explored: each ready kernel is a task, and Python chooses the next one.
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        put_in_order(context)
        return budget
    while load(context + at.CONTEXT_READY_TOP) != base and budget > 0:
        # Popped before it runs: the kernel pushes its users on top.
        top = load(context + at.CONTEXT_READY_TOP) - 16
        store(context + at.CONTEXT_READY_TOP, top)
        budget -= run_ready_entry(context, load(top), load(top + 8))
        # Each SHARE_INTERVAL entries: WAITERS_BUDGET, by which a long kernel lowers the budget, is a multiple of it.
        if budget & (SHARE_INTERVAL - 1) == 0:
            share_when_idle(context)
            budget = run_kept_tasks(context, budget)
        # Again: a kernel may have made the stack grow, and move.
        base = load(context + at.CONTEXT_READY)
    return budget


@outline
def run_kept_tasks(context: Address, budget: int) -> int:
    """Run the short tasks that this thread keeps, within the budget; what is left of it.

    Between kernels, where there are very many of both: else a task would wait until all kernels have
    run, and its cell and its value would be out of the cache by then.
    """
    while budget > 0:
        task = load(context + at.CONTEXT_PENDING)
        if load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ORDERED) != 0:
            return budget  # older ones come first
        # Without an activation it is another kind of task, which may be long.
        if task == 0 or load(task + at.TASK_ACTIVATION) == 0:
            return budget
        run_task(context, take_pending(context))
        budget -= 1
    return budget


@outline
def put_in_order(context: Address) -> None:
    """Run what is ready and no kernel; let kernels be tasks."""
    while load(context + at.CONTEXT_READY_TOP) != load(context + at.CONTEXT_READY):
        top = load(context + at.CONTEXT_READY_TOP) - 16
        store(context + at.CONTEXT_READY_TOP, top)
        tagged = load(top)
        record = load(top + 8)
        if tagged & at.READY_BITS != at.READY_KERNEL:
            run_other_entry(context, tagged, record)
        else:
            enqueue_entry(context, tagged, record)


@inline
def run_ready_entry(context: Address, tagged: Address, second: Address) -> int:
    """Do what one entry of the ready stack says; how much of a budget that takes.

    A kernel that may take long takes all that a waiting thread has: it reads the clock then.
    """
    if tagged & at.READY_BITS != at.READY_KERNEL:
        run_other_entry(context, tagged, second)
        return 1
    flags = load(second + at.RECORD_FLAGS)
    if flags == at.KERNEL_SMALL:
        run_small_kernel(context, tagged, second)
        return 1
    run_kernel(context, tagged, second)
    return WAITERS_BUDGET if flags & at.KERNEL_HEAVY != 0 else 1


@outline
def run_other_entry(context: Address, tagged: Address, second: Address) -> None:
    """Do what an entry of the ready stack says that is not a kernel."""
    tag = tagged & at.READY_BITS
    if tag == at.READY_END:
        end_activation(context, tagged - at.READY_END)
    elif tag == at.READY_DELIVERY:
        deliver_later(context, tagged - at.READY_DELIVERY, second)
    else:
        end_join(context, tagged - at.READY_JOIN)


@native
def run_task(context: Address, task: Address) -> None:
    """Run one task; kernels that become ready stay on this thread's stack."""
    call2(load(task + at.TASK_FUNCTION), context, task)


@native
def next_task(context: Address) -> Address:
    """The next task for this thread, which may begin a call that was started; or 0.

    Without workers the tasks run in the order in which they came.
    """
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        task = find_task(context)
        return task if task != 0 else take_start(context)
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        return chosen_task(context)
    return next_in_order(context)


@outline
def chosen_task(context: Address) -> Address:
    """The task that Python chooses, or 0."""
    while True:
        keep_injected(context)
        task = call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_CHOOSE), context, 0)
        if task != 0 or load(context + at.CONTEXT_READY_TOP) == load(context + at.CONTEXT_READY):
            return task
        # What came from outside was chosen in the place of a task, and has made kernels ready.
        put_in_order(context)


@entry
def work(context: Address, budget: int) -> int:
    """Run what there is for this thread, up to `budget` kernels and tasks; what is left of it."""
    budget = run_ready(context, budget)
    while budget > 0:
        task = next_task(context)
        if task == 0:
            return budget
        run_task(context, task)
        budget = run_ready(context, budget - 1)
    return budget


@native
def work_without_starts(context: Address) -> bool:
    """As a worker: run what there is, but begin no calls; whether there was anything."""
    budget = run_ready(context, ENDLESS)
    stolen = 0
    while True:
        task = own_task(context)
        if task == 0:
            # Tasks of a few nanoseconds are faster where they were made: memory moves to a thief with each.
            if stolen != 0 and now() - stolen < WORTH_STEALING_NS:
                rest(context)
            task = steal_task(context)
            if task == 0:
                return budget != ENDLESS
            stolen = now()
        run_task(context, task)
        budget = run_ready(context, budget - 1)


@entry
def help_until(context: Address, word: Address, deadline: int) -> int:
    """Work, and sleep when there is nothing to do, until `word` is 0 or the clock says `deadline`.

    For threads that wait: each call returns to Python soon, so that signals are seen.  The thread
    calls it again, or `sharing.hand_over`.  Returns the word.
    """
    # Odd from here: while this thread may hold work the queue is not quiescent.
    advance_epoch(context)
    store(context + at.CONTEXT_DEADLINE, deadline)
    while load_acquire(word) != 0 and now() < deadline:
        # Nothing was found.  The sleep is short, so that signals are seen.
        if work(context, WAITERS_BUDGET) == WAITERS_BUDGET:
            sleep_on_queue(context, word, min(time_left(deadline), 20_000_000))
    pass_on(context)
    store(context + at.CONTEXT_DEADLINE, 0)
    advance_epoch(context)
    return load_acquire(word)


@entry
def watch_until(context: Address, word: Address, deadline: int) -> int:
    """Sleep until `word` is 0 or the clock says `deadline`; other threads work.  Returns the word."""
    while load_acquire(word) != 0 and now() < deadline:
        watch(load(context + at.CONTEXT_QUEUE), word, time_left(deadline))
    return load_acquire(word)


@entry
def worker_loop(context: Address) -> None:
    """The life of a worker: returns when the queue stops."""
    queue = load(context + at.CONTEXT_QUEUE)
    advance_epoch(context)
    while load_acquire(queue + at.QUEUE_STOP) == 0:
        # A worker that was woken for nothing goes back to sleep: others had the work.
        if not work_without_starts(context) or not seek(context, queue):
            sleep_or_nap(context)
    advance_epoch(context)


@native
def seek(context: Address, queue: Address) -> bool:
    """Seek work a little longer before sleeping: a wake-up costs far more.  Whether the thread need not sleep."""
    begin_seeking(context)
    rounds, found = SPIN_ROUNDS, False
    while not found and (rounds > 0 or now() < load(context + at.CONTEXT_SEEKING_UNTIL)):
        pause()
        rounds -= 1
        found = has_task(context) or load_acquire(queue + at.QUEUE_STOP) != 0
    end_seeking(context)
    return found


@entry
def blocking_loop(context: Address, pool: Address, idle_ns: int) -> None:
    """The life of a thread of the blocking pool: returns when idle for `idle_ns`, or stopped."""
    advance_epoch(context)
    while load_acquire(pool + at.POOL_STOP) == 0:
        task = take_blocking_task(context, pool, idle_ns)
        if task == 0:
            break
        # Before this thread blocks: the adder of another task may have counted on it as idle.
        call_for_threads(context, pool)
        run_task(context, task)
        # What became ready is compute work: this thread runs none, and may block for long next.
        hand_over(context)
        fetch_add(pool + at.POOL_DONE, 1)
    advance_epoch(context)


@entry
def run_one(context: Address, task: Address, budget: int) -> None:
    """Run a task, then the kernels that become ready: up to `budget`, or to a heavy one that the task has not brought.

    All others become tasks, which `take_tasks` finds.
    """
    # A sync function that runs longer makes room for what else the queue's thread has to do.
    store(context + at.CONTEXT_DEADLINE, now() + SLICE_NS)
    run_task(context, task)
    base = load(context + at.CONTEXT_READY)
    first = True
    while load(context + at.CONTEXT_READY_TOP) != base and budget > 0:
        top = load(context + at.CONTEXT_READY_TOP) - 16
        tagged = load(top)
        record = load(top + 8)
        is_kernel = tagged & at.READY_BITS == at.READY_KERNEL
        if is_kernel and not first and load(record + at.RECORD_FLAGS) & at.KERNEL_HEAVY != 0:
            break
        store(context + at.CONTEXT_READY_TOP, top)
        run_ready_entry(context, tagged, record)
        if is_kernel:
            budget -= 1
        first = False
        base = load(context + at.CONTEXT_READY)
    store(context + at.CONTEXT_DEADLINE, 0)
    hand_over(context)


@entry
def refuse_blocking(context: Address, task: Address) -> None:
    """Fail the kernel of a blocking task that no thread takes."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    fail_kernel_with(context, activation, record, at.MESSAGE_POOL_FULL)
    hand_over(context)
