"""Python functions in which a thread runs tasks until a value is available or a run is over.

    first    runs tasks until a run's only result is available; returns it as a Python object
    result   the same for any value
    end      runs tasks until a run is over

The *goal* is that the value is available or that the run is over.  A wait lasts until the goal is
reached, or until this thread has nothing left to do.  In the latter case, the wait returns MISSING,
and Python does the rest of the wait:

    work_lightly    with the GIL: up to LIGHT_ENTRIES short kernels, because releasing it costs more
         |          than a small run; what comes next may take longer
      give_way      the GIL goes to other threads
         |
     work_until     without the GIL, up to SLICE_NS; searches briefly before it returns
         |
       MISSING      Python sees signals and sleeps: `WorkQueue.wait`
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import is_available, is_object, resolve
from tfrt_runtime.native.calls.executor import WAITERS_BUDGET, run_ready_entry, run_task, work
from tfrt_runtime.native.memory import (
    Address,
    bound_words,
    call1,
    compare_and_swap,
    entry,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    pause,
    store,
    store_release,
)
from tfrt_runtime.native.python.python_entries import python_object, shared, word
from tfrt_runtime.native.python.python_runs import context_of, forget_over
from tfrt_runtime.native.queues.deques import next_in_order
from tfrt_runtime.native.queues.sharing import SLICE_NS, give_way, hand_over, take_start
from tfrt_runtime.native.queues.tasks import (
    advance_epoch,
    begin_seeking,
    end_seeking,
    has_task,
    pass_on,
)

LIGHT_ENTRIES = 256
"""The number of ready entries that a thread runs while keeping the GIL, for a few microseconds."""


@entry
def first(bound: Address, given: Address, count: int) -> Address:
    """Run tasks until a run's only result is available, and return it.

    The call is `first(queue, template, request)`.

    Return MISSING in the same cases as `result`, and if the run is cancelled or watched.
    """
    words = bound_words(bound)
    api, missing = load(words), load(words + 16)
    template, request = word(api, given, 1), word(api, given, 2)
    payload_type = load(template + at.TEMPLATE_READS)
    if payload_type == 0 or load_acquire(request + at.REQUEST_UNUSUAL) != 0:
        return shared(api, missing)
    value = load(request + load(template + at.TEMPLATE_FIRST))
    return found(words, context_of(api, word(api, given, 0)), value, payload_type)


@entry
def result(bound: Address, given: Address, count: int) -> Address:
    """Run tasks until a value is available, and return it.

    The call is `result(queue, value, type of its payload)`.

    Return MISSING if this thread has nothing left to do and the value is unavailable, if the value
    is not an ordinary value of the type, if this thread must not work, or if a signal has arrived.
    """
    words = bound_words(bound)
    api = load(words)
    context = context_of(api, word(api, given, 0))
    return found(words, context, word(api, given, 1), word(api, given, 2))


@native
def found(words: Address, context: Address, value: Address, payload_type: int) -> Address:
    """Do the work of `first` and `result`.

    `context` is this thread's context, or 0 if an exception is set.
    """
    if context == 0:
        return 0
    api, process, missing = load(words), load(words + 8), load(words + 16)
    if not is_available(value) and not work_here(context, api, value, False):
        forget_over(process, context, api)
        return shared(api, missing)
    made = object_of(api, value, payload_type)
    forget_over(process, context, api)
    if made == 0 and call1(load(api + at.PYTHON_OCCURRED), 0) == 0:
        return shared(api, missing)
    return made


@entry
def end(bound: Address, given: Address, count: int) -> Address:
    """Run tasks until a run is over, and return None: `end(queue, request)`.

    Return MISSING if this thread has nothing left to do and the run is not over, and in the same
    cases as `first`.
    """
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    context, request = context_of(api, word(api, given, 0)), word(api, given, 1)
    if context == 0:
        return 0
    answer = load(words + 16)
    if load_acquire(request + at.REQUEST_UNUSUAL) == 0 and (
        is_reached(request, True) or work_here(context, api, request, True)
    ):
        answer = load(api + at.PYTHON_NONE)
    forget_over(process, context, api)
    return shared(api, answer)


@inline
def is_reached(goal: Address, is_run: bool) -> bool:
    """Return whether the goal of a wait has been reached.

    `goal` is a request if `is_run`, and a value otherwise.
    """
    if is_run:
        return load_acquire(goal + at.REQUEST_OPEN) == 0
    return is_available(goal)


@native
def object_of(api: Address, value: Address, payload_type: int) -> Address:
    """Return an available value as a new reference to a Python object.

    Return 0 if the value is an error or not of type `payload_type`.
    """
    found = resolve(value)
    kind = load(found + at.VALUE_KIND) >> 8
    is_type = kind == payload_type
    if payload_type == at.ANY_PAYLOAD:
        is_type = kind == at.TYPE_CHAIN or is_object(kind)
    if not is_type or load_acquire(found + at.VALUE_STATE) & at.STATE_BITS != at.CONCRETE:
        return 0
    return python_object(api, found, kind)


@native
def work_here(context: Address, api: Address, goal: Address, is_run: bool) -> bool:
    """Run tasks on this thread, which holds the GIL, until the goal is reached or no work is left.

    Return True if the goal has been reached and no signal has arrived.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    # This thread is busy if a kernel on it is waiting here and using this context.
    is_busy = load(context + at.CONTEXT_EPOCH) & 1 != 0
    if (
        is_busy
        or queue == 0
        or load(queue + at.QUEUE_ASIDE) != 0
        or load(queue + at.QUEUE_CHOOSE) != 0
    ):
        return False
    interrupts = load(api + at.PYTHON_INTERRUPTS)
    is_main = load(context + at.CONTEXT_MAIN) != 0
    if is_main:
        # It is time for Python code to check that the SIGINT handler is still installed.
        if now() - load(interrupts + at.INTERRUPTS_LOOKED) > at.INTERRUPTS_LOOK_NS:
            return False
        store(interrupts + at.INTERRUPTS_WAITS, load(interrupts + at.INTERRUPTS_WAITS) + 1)
    workers = load(queue + at.QUEUE_WORKERS)
    # The last deque is for a thread that is not a worker. If another such thread has it, this
    # thread's tasks go to the injected stack.
    has_deque = workers != 0 and compare_and_swap(queue + at.QUEUE_HOST, 0, 1) != 0
    if has_deque:
        store(context + at.CONTEXT_DEQUE, load(load(queue + at.QUEUE_DEQUES) + 8 * (workers - 1)))
    # A number that is not negative tells `add_local_task` that this thread also takes injected
    # tasks.
    store(context + at.CONTEXT_WORKER, max(workers - 1, 0))
    # The epoch becomes odd: this thread may hold work, so the queue is not quiescent.
    advance_epoch(context)
    store(context + at.CONTEXT_PYTHON, api)
    if not work_lightly(context, goal, is_run):
        give_way(context)
        if workers != 0:
            # Without workers, no other thread would run a kernel that this thread leaves.
            store(context + at.CONTEXT_LEAVES, at.LEAVES_UNKNOWN)
        work_until(context, goal, is_run, now() + SLICE_NS)
        store(context + at.CONTEXT_LEAVES, 0)
    # The GIL is released: by the call of `give_way` above, or by one in a task or in machine code.
    if load(context + at.CONTEXT_PYTHON) == 0:
        store(context + at.CONTEXT_DEADLINE, 0)
        call1(load(api + at.PYTHON_RESTORE), load(context + at.CONTEXT_THREAD))
    store(context + at.CONTEXT_PYTHON, 0)
    advance_epoch(context)
    # The epoch is even already, although work may be left: `host.waiting.has_work` also finds the
    # work that is still in the context.
    is_ready = load(context + at.CONTEXT_READY) != load(context + at.CONTEXT_READY_TOP)
    is_left = load(context + at.CONTEXT_PENDING) != 0 or load_acquire(queue + at.QUEUE_ORDERED) != 0
    if is_ready or is_left:
        hand_over(context)
    store(context + at.CONTEXT_WORKER, -1)
    if has_deque:
        store(context + at.CONTEXT_DEQUE, 0)
        # Do this last: the next thread takes over the deque as it is.
        store_release(queue + at.QUEUE_HOST, 0)
    if is_main:
        store(interrupts + at.INTERRUPTS_WAITS, load(interrupts + at.INTERRUPTS_WAITS) - 1)
        if load(interrupts + at.INTERRUPTS_NOTED) != 0:
            return False
    return is_reached(goal, is_run)


@native
def work_lightly(context: Address, goal: Address, is_run: bool) -> bool:
    """Run short kernels, with the GIL, until the goal is reached.

    Return False if the next work may take longer or there is none.  Releasing the GIL would cost
    more than a small run, and if other threads want the GIL, this thread would have to wait for its
    turn.
    """
    for _ in range(LIGHT_ENTRIES):
        if is_reached(goal, is_run):
            return True
        # A task or machine code has called `give_way`, because its work may take long.
        if load(context + at.CONTEXT_PYTHON) == 0:
            return False
        top = load(context + at.CONTEXT_READY_TOP)
        if top == load(context + at.CONTEXT_READY):
            task = light_task(context)
            if task == 0:
                return False
            run_task(context, task)
        else:
            if not is_light(load(top - 16), load(top - 8)):
                return False
            # Pop the entry first: the kernel pushes its users onto the stack.
            store(context + at.CONTEXT_READY_TOP, top - 16)
            run_ready_entry(context, load(top - 16), load(top - 8))
    return False


@native
def light_task(context: Address) -> Address:
    """Return the next task, or 0.

    Release the GIL first if the task may take long.  All tasks may, except those that start a call
    of a run.
    """
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        return take_start(context)
    task = next_in_order(context)
    root = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ROOT)
    if task != 0 and load(task + at.TASK_FUNCTION) != root:
        give_way(context)
    return task


@native
def is_light(tagged: Address, record: Address) -> bool:
    """Return whether a ready entry is short: it calls no function and does not block."""
    if tagged & at.READY_BITS != at.READY_KERNEL:
        return True
    long = at.KERNEL_HEAVY | at.KERNEL_BLOCKING | at.KERNEL_LASTING
    return (
        load_i32(record + at.RECORD_FLAGS) & long == 0
        and load_i32(record + at.RECORD_FUNCTIONS) == 0
    )


@native
def work_until(context: Address, goal: Address, is_run: bool, deadline: int) -> None:
    """Work until the goal or `deadline` is reached, or until this thread has nothing left to do."""
    store(context + at.CONTEXT_DEADLINE, deadline)
    has_sought = False
    while (
        not is_reached(goal, is_run)
        and load(context + at.CONTEXT_LEAVES) != at.HAS_LEFT
        and now() < deadline
    ):
        if work(context, WAITERS_BUDGET) == WAITERS_BUDGET:
            has_sought = True
            if not seek_for(context, goal, is_run):
                break
    # A thread that added a task may have relied on this thread to find it (`add_sought_task`).
    if has_sought:
        pass_on(context)
    store(context + at.CONTEXT_DEADLINE, 0)


@native
def seek_for(context: Address, goal: Address, is_run: bool) -> bool:
    """Search for work until CONTEXT_SEEKING_UNTIL.

    Return True as soon as there is work or the goal is reached.
    """
    begin_seeking(context)
    found = False
    # Only a matrix product sets this time, so there is usually no search.
    while not found and now() < load(context + at.CONTEXT_SEEKING_UNTIL):
        pause()
        found = has_task(context) or is_reached(goal, is_run)
    end_seeking(context)
    return found
