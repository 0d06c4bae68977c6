"""The run loop: take ready kernels and tasks, and run them on this thread.

The loop never waits, never takes a lock, and never recurses.  It runs on workers, on threads that
wait for a result (`help_until`, `python_waits`), on the blocking pool's threads, and on the threads
of a user's queue.

A *user's queue* is a work queue that a user has written in Python.  Python hands it the tasks of a
native queue, which serves as its mailbox.  The user's queue decides where, and in which order, the
tasks run.  `run_one` runs a task, and puts the work that becomes ready into the mailbox.
"""

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
from tfrt_runtime.native.calls.delivery import deliver, deliver_later, position_of
from tfrt_runtime.native.calls.hot_calls import start_machine
from tfrt_runtime.native.calls.kernel_calls import (
    fail_kernel_with,
    run_kernel,
    run_small_kernel,
    run_unusual_kernel,
)
from tfrt_runtime.native.cells import need_block
from tfrt_runtime.native.memory import (
    Address,
    call2,
    entry,
    fetch_add,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    outline,
    pause,
    store,
    time_left,
)
from tfrt_runtime.native.queues.blocking_pool import call_for_threads, take_blocking_task
from tfrt_runtime.native.queues.deques import keep_injected, next_in_order, take_pending
from tfrt_runtime.native.queues.sharing import (
    SLICE_NS,
    add_start,
    enqueue_entry,
    hand_over,
    share_when_idle,
    sleep_or_nap,
    take_start,
)
from tfrt_runtime.native.queues.tasks import (
    WORTH_STEALING_NS,
    advance_epoch,
    begin_seeking,
    end_seeking,
    find_task,
    free_task,
    has_task,
    new_task,
    own_task,
    pass_on,
    rest,
    sleep_on_queue,
    steal_task,
    watch,
)
from tfrt_runtime.native.queues.waiters import push_entries, push_ready

SHARE_INTERVAL = 1024
"""The number of kernels between two checks for a sleeping worker: about 20 us, as for a wake-up."""
WAITERS_BUDGET = 4096
"""The number of short kernels that a waiting thread runs before it reads the clock: about 50 us."""
SPIN_ROUNDS = 200
ENDLESS = 1 << 60


@entry
def start_call(
    context: Address, function: Address, request: Address, values: Address, is_task: int
) -> None:
    """Start a root call: as a task if `is_task` is 1, otherwise on this thread.

    Args:
        values: an array with one AsyncValue per argument, which the caller still owns, followed by
            room for the results.  This function stores one unavailable value per result there; the
            caller owns a reference to each.
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
    """Store one unavailable value per result of `function` at `place`.

    Each value has two references: one for the caller, and one for the table of the call.
    """
    for i in range(load(function + at.FUNCTION_RESULTS)):
        value = new_indirect(context)
        store(value + at.VALUE_REFERENCES, 2)
        store(value + at.VALUE_PAYLOAD, at.INDIRECT_COPIES)
        store(place + 8 * i, value)


@native
def new_table(context: Address, function: Address, results: Address) -> Address:
    """Make the table of a root call, with its results and room for its arguments."""
    table = need_block(context, root_size(function))
    for i in range(load(function + at.FUNCTION_RESULTS)):
        store(table + 8 * i, load(results + 8 * i))
    return table


@native
def start_table(
    context: Address, function: Address, request: Address, table: Address, is_task: int
) -> None:
    """Start a root call, as a task or on this thread.

    Take over `table`: one indirect value per result, then one value per argument.
    """
    # A request that is already cancelled returns errors, no matter which thread runs first.
    if load_acquire(request + at.REQUEST_CANCEL) != 0:
        refuse_call(context, function, request, table)
    elif is_task != 0:
        run = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ROOT)
        add_start(context, new_task(context, run, function, request, table))
    else:
        start_root(context, function, request, table)


@entry
def run_root(context: Address, task: Address) -> None:
    """Start a root call (task function)."""
    function = load(task + at.TASK_FIRST)
    request = load(task + at.TASK_SECOND)
    table = load(task + at.TASK_THIRD)
    free_task(context, task)
    begin_table(context, function, request, table)


@native
def begin_table(context: Address, function: Address, request: Address, table: Address) -> None:
    """Start a root call, as machine code if possible.

    Take over `table`.
    """
    # `start_table` runs no machine code on the starting thread, which may have to cancel the call.
    if load(function + at.FUNCTION_MACHINE) != 0:
        name_call(context, request)
        if start_machine(context, function, request, table):
            return
    start_root(context, function, request, table)


@inline
def name_call(context: Address, request: Address) -> None:
    """Make out-of-memory errors name this call, instead of the kernel that this thread ran last."""
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_RECORD, 0)


@native
def start_root(context: Address, function: Address, request: Address, table: Address) -> None:
    """Start a root call without machine code; its first kernels become ready on this thread.

    Take over `table`.
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
    """Refuse a root call, because its run is cancelled or out of memory.

    Take over `table`.
    """
    given = table + 8 * load(function + at.FUNCTION_RESULTS)
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        drop_reference(context, load(given + 8 * i))
    refuse_root(context, function, request, table)


@entry
def run_entry(context: Address, task: Address) -> None:
    """Make a shared kernel ready on this thread (task function)."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        run_ready_entry(context, activation, record)
        return
    push_ready(context, activation, record)


@entry
def run_blocking(context: Address, task: Address) -> None:
    """Run a blocking kernel on a thread of the blocking pool (task function)."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    run_unusual_kernel(context, activation, record, True)


@native
def run_ready(context: Address, budget: int) -> int:
    """Run ready kernels, newest first, until none is left or the budget is used up.

    Return the remaining budget.
    """
    base = load(context + at.CONTEXT_READY)
    # While schedules are explored, each kernel becomes a task, and Python chooses the next task.
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        put_in_order(context)
        return budget
    while load(context + at.CONTEXT_READY_TOP) != base and budget > 0:
        # Pop the entry first: the kernel pushes its users onto the stack.
        top = load(context + at.CONTEXT_READY_TOP) - 16
        store(context + at.CONTEXT_READY_TOP, top)
        budget -= run_ready_entry(context, load(top), load(top + 8))
        # A long kernel costs WAITERS_BUDGET, a multiple of SHARE_INTERVAL, so no check is skipped.
        if budget & (SHARE_INTERVAL - 1) == 0:
            share_when_idle(context)
            budget = run_kept_tasks(context, budget)
        # Reload the address: a kernel may have enlarged the stack, which moves it.
        base = load(context + at.CONTEXT_READY)
    return budget


@outline
def run_kept_tasks(context: Address, budget: int) -> int:
    """Run the short tasks that this thread keeps, within the budget; return the remaining budget.

    At this point, between kernels, the tasks' cells and values are still in the cache.
    """
    while budget > 0:
        task = load(context + at.CONTEXT_PENDING)
        if load_acquire(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ORDERED) != 0:
            return budget  # older tasks go first
        # only tasks with an activation are known to be short
        if task == 0 or load(task + at.TASK_ACTIVATION) == 0:
            return budget
        run_task(context, take_pending(context))
        budget -= 1
    return budget


@outline
def put_in_order(context: Address) -> None:
    """Turn the kernels on the ready stack into tasks; run the stack's other entries."""
    while load(context + at.CONTEXT_READY_TOP) != load(context + at.CONTEXT_READY):
        top = load(context + at.CONTEXT_READY_TOP) - 16
        store(context + at.CONTEXT_READY_TOP, top)
        if load(top) & at.READY_BITS != at.READY_KERNEL:
            run_other_entry(context, load(top), load(top + 8))
        else:
            enqueue_entry(context, load(top), load(top + 8))


@inline
def run_ready_entry(context: Address, tagged: Address, second: Address) -> int:
    """Run one entry of the ready stack, and return its cost.

    A kernel that may take long costs a waiting thread's whole budget, so that the thread then reads
    the clock.
    """
    if tagged & at.READY_BITS != at.READY_KERNEL:
        run_other_entry(context, tagged, second)
        return 1
    flags = load_i32(second + at.RECORD_FLAGS)
    if flags == at.KERNEL_SMALL:
        run_small_kernel(context, tagged, second)
        return 1
    run_kernel(context, tagged, second)
    return WAITERS_BUDGET if flags & at.KERNEL_HEAVY != 0 else 1


@outline
def run_other_entry(context: Address, tagged: Address, second: Address) -> None:
    """Run an entry of the ready stack that is not a kernel."""
    tag = tagged & at.READY_BITS
    if tag == at.READY_END:
        end_activation(context, tagged - at.READY_END)
    elif tag == at.READY_DELIVERY:
        deliver_later(context, tagged - at.READY_DELIVERY, second)
    elif tag == at.READY_ENTRIES:
        push_entries(context, tagged - at.READY_ENTRIES, second)
    else:
        end_join(context, tagged - at.READY_JOIN)


@native
def run_task(context: Address, task: Address) -> None:
    """Run one task.  Kernels that become ready stay on this thread's ready stack."""
    call2(load(task + at.TASK_FUNCTION), context, task)


@native
def next_task(context: Address) -> Address:
    """Return the next task for this thread, or 0.

    If the queue has workers, the task may also be one that starts a root call.  Otherwise, tasks
    run in order of arrival.
    """
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        task = find_task(context)
        return task if task != 0 else take_start(context)
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        return chosen_task(context)
    return next_in_order(context)


@outline
def chosen_task(context: Address) -> Address:
    """Return the task that Python chooses, or 0."""
    while True:
        keep_injected(context)
        task = call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_CHOOSE), context, 0)
        if task != 0 or load(context + at.CONTEXT_READY_TOP) == load(context + at.CONTEXT_READY):
            return task
        # Python chose to start a root call, which has made kernels ready.
        put_in_order(context)


@entry
def work(context: Address, budget: int) -> int:
    """Run up to `budget` of this thread's kernels and tasks; return the remaining budget."""
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
    """Run all the work that a worker can find, except root calls that have not started.

    Return False if there was none.
    """
    budget = run_ready(context, ENDLESS)
    stolen = 0
    while True:
        task = own_task(context)
        if task == 0:
            # Tasks that take only nanoseconds are faster on the thread that made them, because
            # stealing a task moves its memory between cores.
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
    """Work until `word` is 0 or the clock reaches `deadline`; sleep while there is nothing to do.

    A thread that waits for a result calls this repeatedly, and handles signals between the calls.
    After the last call, it calls `sharing.hand_over`.  Return the word.
    """
    # The epoch becomes odd: this thread may hold work, so the queue is not quiescent.
    advance_epoch(context)
    store(context + at.CONTEXT_DEADLINE, deadline)
    while load_acquire(word) != 0 and now() < deadline:
        # No work was found. Sleep at most 20 ms, so that Python can handle signals.
        if work(context, WAITERS_BUDGET) == WAITERS_BUDGET:
            sleep_on_queue(context, word, min(time_left(deadline), 20_000_000))
    pass_on(context)
    store(context + at.CONTEXT_DEADLINE, 0)
    advance_epoch(context)
    return load_acquire(word)


@entry
def watch_until(context: Address, word: Address, deadline: int) -> int:
    """Sleep until `word` is 0 or the clock reaches `deadline`, while other threads work.

    Return the word.
    """
    while load_acquire(word) != 0 and now() < deadline:
        watch(load(context + at.CONTEXT_QUEUE), word, time_left(deadline))
    return load_acquire(word)


@entry
def worker_loop(context: Address) -> None:
    """Serve the queue as a worker until the queue stops."""
    queue = load(context + at.CONTEXT_QUEUE)
    advance_epoch(context)
    while load_acquire(queue + at.QUEUE_STOP) == 0:
        # If a woken worker finds no work, other threads have taken it: sleep again without seeking.
        if not work_without_starts(context) or not seek(context, queue):
            sleep_or_nap(context)
    advance_epoch(context)


@native
def seek(context: Address, queue: Address) -> bool:
    """Spin for a short time; return True as soon as there is work or the queue stops.

    Spinning before sleeping saves time, because a wake-up costs far more.
    """
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
    """Serve the blocking pool until this thread has been idle for `idle_ns` or the pool stops."""
    advance_epoch(context)
    while load_acquire(pool + at.POOL_STOP) == 0:
        task = take_blocking_task(context, pool, idle_ns)
        if task == 0:
            break
        # A thread that added another task may have counted this thread as idle, but this thread
        # may block now.
        call_for_threads(context, pool)
        run_task(context, task)
        # Hand over the compute kernels that became ready, because this thread may block for a long
        # time next.
        hand_over(context)
        fetch_add(pool + at.POOL_DONE, 1)
    advance_epoch(context)


@entry
def run_one(context: Address, task: Address, budget: int) -> None:
    """Run a task, and then the kernels that become ready.

    Stop after `budget` kernels, or before a heavy kernel other than the task's own.  The remaining
    kernels become tasks, which `take_tasks` returns.
    """
    # After this time, a sync function pauses, so that the queue's thread can do other work.
    store(context + at.CONTEXT_DEADLINE, now() + SLICE_NS)
    run_task(context, task)
    base = load(context + at.CONTEXT_READY)
    first = True
    while load(context + at.CONTEXT_READY_TOP) != base and budget > 0:
        top = load(context + at.CONTEXT_READY_TOP) - 16
        tagged = load(top)
        record = load(top + 8)
        is_kernel = tagged & at.READY_BITS == at.READY_KERNEL
        if is_kernel and not first and load_i32(record + at.RECORD_FLAGS) & at.KERNEL_HEAVY != 0:
            break
        store(context + at.CONTEXT_READY_TOP, top)
        # A sync function's READY_END entry runs a slice of its kernels.
        is_end = tagged & at.READY_BITS == at.READY_END
        if is_kernel or is_end and position_of(tagged - at.READY_END) != 0:
            budget -= 1
        run_ready_entry(context, tagged, record)
        first = False
        base = load(context + at.CONTEXT_READY)
    store(context + at.CONTEXT_DEADLINE, 0)
    hand_over(context)


@entry
def refuse_blocking(context: Address, task: Address) -> None:
    """Skip the kernel of a task that the blocking pool cannot accept; report an error."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    fail_kernel_with(context, activation, record, at.MESSAGE_POOL_FULL)
    hand_over(context)
