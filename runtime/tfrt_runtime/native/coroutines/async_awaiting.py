"""Coroutines in compiled programs: how they start, resume, and wait for objects.

A coroutine that waits for an object adds a waiter to it.  The waiter holds the coroutine's handle
and the function that resumes the coroutine.  When the object is resolved, the coroutine resumes as
a task of the work queue.  It never resumes on the stack of the resolving thread.  That thread can
therefore continue immediately, and no stack grows with the length of a chain.  If the object is
already resolved, the coroutine continues immediately, up to a bounded depth.

    spawn --task--> run_coroutine --> resume(handle) --await_and_resume--+
                        ^                    ^                           |
                        |                    +-- object available: here -+
                        |                                                |
                        +-- task, on resolution <-- waiter WAIT_TASK ----+

A handle identifies a coroutine in LLVM's switched-resume lowering:
https://llvm.org/docs/Coroutines.html

When an ordinary function awaits an object, its thread must wait.  In the meantime, the thread runs
other tasks, because there might be no other thread left to run the tasks that resolve the object.
When there is no work, the thread sleeps.  From time to time, it calls Python to handle signals.  If
no code is left that could resolve the object, Python reports an error.  A waiting kernel keeps its
frame; kernels that its thread runs during the wait get another frame.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_waiter, drop_optional, is_available, new_waiter
from tfrt_runtime.native.calls.executor import next_task, run_ready, run_task
from tfrt_runtime.native.cells import give_block, give_cell, take_block
from tfrt_runtime.native.coroutines.async_objects import report_event
from tfrt_runtime.native.events import log_code
from tfrt_runtime.native.handles import latch_make
from tfrt_runtime.native.memory import (
    Address,
    call1,
    compare_and_swap,
    copy,
    entry,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    now,
    set_thread_context,
    stack_room,
    store,
    store_release,
    thread_context,
)
from tfrt_runtime.native.queues.deques import inject, push_bottom
from tfrt_runtime.native.queues.sharing import hand_over, offer_tasks, share_pending
from tfrt_runtime.native.queues.tasks import (
    add_local_task,
    advance_epoch,
    free_task,
    new_task,
    pass_on,
    sleep_on_queue,
    wake_sleeper,
    watch,
)
from tfrt_runtime.native.queues.waiters import drop_latch

MAX_NESTED_COROUTINES = 64
ENOUGH_WAITING, ENOUGH_ALONE = 256, 64
"""If at least this many tasks are waiting in a thread's deque, the thread runs new tasks directly.

A thread without a deque counts the tasks that it has spawned instead.  ENOUGH_ALONE is for queues
without workers: no other thread needs tasks there, and the memory of fewer stays in the cache.
"""
HELPERS_RESERVE = 3 << 20
"""The free stack, in bytes, that a waiting thread needs before it starts a task.

The task may recurse.
"""
KERNELS_AT_ONCE = 64
FIRST_NAP_NS = 1_000_000
LONGEST_NAP_NS = 20_000_000
LOOK_NS = 50_000_000
"""The interval at which a helping thread calls Python to handle signals."""

FRAME_BYTES = at.CONTEXT_RECORD - at.CONTEXT_ARGUMENTS
"""The size in bytes of the part of a context that describes a kernel's frame.

A frame that is put aside consists of this part, followed by CONTEXT_STARTED.
"""


@native
def coroutine_task(context: Address, handle: int, resume: Address) -> Address:
    """Make a task that resumes a coroutine."""
    function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_COROUTINE)
    return new_task(context, function, handle, resume, load(context + at.CONTEXT_RUN))


@entry
def run_coroutine(context: Address, task: Address) -> None:
    """Task function: resume a coroutine."""
    handle = load(task + at.TASK_FIRST)
    resume = load(task + at.TASK_SECOND)
    # A thread runs tasks from several runs, so each task carries the number of its run.
    run = load(context + at.CONTEXT_RUN)
    store(context + at.CONTEXT_RUN, load(task + at.TASK_THIRD))
    store(context + at.CONTEXT_REFUSED, 0)
    free_task(context, task)
    log_code(context, at.LOG_START, handle, 0)
    call_compiled(context, resume, handle)
    log_code(context, at.LOG_END, handle, 0)
    store(context + at.CONTEXT_RUN, run)


@native
def call_compiled(context: Address, function: Address, argument: int) -> int:
    """Call a compiled function with this context, and discard any failure that it records."""
    # An outer call to compiled code may be waiting on this thread, so save its words and restore
    # them below.
    nested = load(context + at.CONTEXT_NESTED)
    failure = load(context + at.CONTEXT_FAILURE)
    request = load(context + at.CONTEXT_REQUEST)
    store(context + at.CONTEXT_NESTED, 0)
    store(context + at.CONTEXT_FAILURE, 0)
    # A task uses no kernel's frame, so `wait_for_object` need not put one aside.
    store(context + at.CONTEXT_REQUEST, 0)
    # Compiled code finds the context through the thread (`here`).
    set_thread_context(context)
    result = call1(function, argument)
    drop_optional(context, load(context + at.CONTEXT_FAILURE))
    store(context + at.CONTEXT_NESTED, nested)
    store(context + at.CONTEXT_FAILURE, failure)
    store(context + at.CONTEXT_REQUEST, request)
    # Compiled code that is waiting further down on this stack still needs the context.
    if load(context + at.CONTEXT_AWAITED) == 0:
        # Another thread may get the context next.
        set_thread_context(0)
    return result


@entry
def async_call(context: Address, function: Address, argument: int) -> int:
    """Call a compiled function from Python; return 1 if it fails, with its error in the context."""
    advance_epoch(context)
    store(context + at.CONTEXT_SPAWNED, 0)
    store(context + at.CONTEXT_REQUEST, 0)
    former = set_thread_context(context)
    result = call1(function, argument)
    set_thread_context(former)
    # Hand over before the epoch becomes even: from then on, this thread must not hold work.
    hand_over(context)
    advance_epoch(context)
    return result & 1


@native
def spawn(context: Address, handle: int, resume: Address) -> None:
    """Start a new coroutine, either in a queued task or directly on this stack."""
    log_code(context, at.LOG_ENQUEUE, handle, 0)
    queue = load(context + at.CONTEXT_QUEUE)
    enough = ENOUGH_WAITING if load(queue + at.QUEUE_WORKERS) != 0 else ENOUGH_ALONE
    deque = load(context + at.CONTEXT_DEQUE)
    waiting = (
        load_acquire(deque + at.DEQUE_BOTTOM) - load_acquire(deque + at.DEQUE_TOP)
        if deque != 0
        else load(context + at.CONTEXT_SPAWNED)
    )
    if (
        waiting >= enough
        and load(context + at.CONTEXT_NESTED) < MAX_NESTED_COROUTINES
        # While schedules are explored, each task waits to be chosen.
        and load(queue + at.QUEUE_CHOOSE) == 0
    ):
        # All threads have work, so run the coroutine now. This saves a task, and the coroutine's
        # memory is still in the cache.
        log_code(context, at.LOG_START, handle, 0)
        resume_now(context, handle, resume)
        log_code(context, at.LOG_END, handle, 0)
        return
    task = coroutine_task(context, handle, resume)
    if deque == 0 or not push_bottom(deque, task):
        inject(queue, task)
        store(context + at.CONTEXT_SPAWNED, load(context + at.CONTEXT_SPAWNED) + 1)
        wake_sleeper(queue)
    elif is_worth_waking(waiting + 1):
        wake_sleeper(queue)


@inline
def is_worth_waking(waiting: int) -> bool:
    """Return whether a worker should be woken, now that `waiting` tasks are waiting.

    The answer is True if `waiting` is a power of 2.  A wake-up costs as much as hundreds of small
    tasks, so more wake-ups would be a waste while a worker is waking up.  If tasks are large, the
    workers keep `waiting` small, and the next tasks wake more workers.
    """
    return waiting & (waiting - 1) == 0


@inline
def resume_now(context: Address, handle: int, resume: Address) -> None:
    """Resume a coroutine on this stack."""
    nested = load(context + at.CONTEXT_NESTED)
    store(context + at.CONTEXT_NESTED, nested + 1)
    call1(resume, handle)
    store(context + at.CONTEXT_NESTED, nested)


@native
def await_and_resume(
    context: Address, value: Address, handle: int, resume: Address, place: Address
) -> None:
    """Resume a coroutine once an object is resolved, or now if it already is.

    `place` is the record of the waiting operation, or 0.  The coroutine's frame may be freed before
    this function returns.
    """
    if not is_available(value):
        function = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_COROUTINE)
        waiter = new_waiter(context, at.WAIT_TASK, handle, resume)
        store(waiter + at.WAITER_THIRD, function)
        store(waiter + at.WAITER_RUN, load(context + at.CONTEXT_RUN))
        store(waiter + at.WAITER_PLACE, place)
        # Log before adding the waiter: another thread may resume the coroutine immediately.
        log_code(context, at.LOG_SUSPEND, handle, value)
        if add_waiter(value, waiter):
            return
        give_cell(context, waiter)
        log_code(context, at.LOG_RESUME, handle, 0)
    # Bound the depth: a coroutine that is resumed here uses stack until it suspends or ends.
    is_chosen = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0
    if load(context + at.CONTEXT_NESTED) < MAX_NESTED_COROUTINES and not is_chosen:
        resume_now(context, handle, resume)
    else:
        add_local_task(context, coroutine_task(context, handle, resume))


@native
def wait_for_object(context: Address, value: Address, place: Address) -> None:
    """Run other tasks until an object is resolved.

    `place` is the record of the waiting operation, or 0.  Inside a kernel, CONTEXT_REQUEST is the
    kernel's request.  In a task, which uses no frame, CONTEXT_REQUEST is 0.
    """
    outer = load(context + at.CONTEXT_AWAITED)
    outer_place = load(context + at.CONTEXT_AWAITED_AT)
    store(context + at.CONTEXT_AWAITED_AT, place)
    # Atomic: another thread reads this word to explain why a run is stuck.
    store_release(context + at.CONTEXT_AWAITED, value)
    request = load(context + at.CONTEXT_REQUEST)
    kept = put_frame_aside(context) if request != 0 else 0
    nap = FIRST_NAP_NS
    next_look = now() + LOOK_NS
    latch = 0
    while not is_available(value):
        if help_once(context):
            nap = FIRST_NAP_NS
            if now() >= next_look:
                # Python finds the waiting kernel's run through this word, which the work of this
                # thread may have changed.
                store(context + at.CONTEXT_REQUEST, request)
                report_event(context, at.EVENT_LOOK, value)
                next_look = now() + LOOK_NS
            continue
        # Only a thread that sleeps needs a latch.
        if latch == 0:
            latch = latch_make(context, value)
        if not doze(context, latch, nap):
            store(context + at.CONTEXT_REQUEST, request)
            report_event(context, at.EVENT_WAITING, value)
            # Each nap that expires costs a call of Python, so sleep longer the next time.
            nap = min(2 * nap, LONGEST_NAP_NS)
    if latch != 0:
        drop_latch(context, latch)
        # This thread may have been woken for a task that it does not take.
        pass_on(context)
    if kept != 0:
        take_frame_back(context, kept)
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_AWAITED_AT, outer_place)
    store_release(context + at.CONTEXT_AWAITED, outer)
    # A Python kernel that ran here during the wait may have left the thread without a context.
    set_thread_context(context)


@native
def put_frame_aside(context: Address) -> Address:
    """Give a context a new frame for other kernels; return the argument for `take_frame_back`."""
    # Kernels that run during the wait would overwrite the waiting kernel's arguments and results.
    kept = take_block(context, at.CELL_SIZE)
    copy(kept, context + at.CONTEXT_ARGUMENTS, FRAME_BYTES)
    store(kept + FRAME_BYTES, load(context + at.CONTEXT_STARTED))
    frame = take_block(context, 16 * at.FRAME_ROOM)
    store(context + at.CONTEXT_ARGUMENTS, frame)
    store(context + at.CONTEXT_RESULTS, frame + 8 * at.FRAME_ROOM)
    store(context + at.CONTEXT_FRAME_LIMIT, at.FRAME_ROOM)
    return kept


@native
def take_frame_back(context: Address, kept: Address) -> None:
    """Restore the frame that `put_frame_aside` saved."""
    frame = load(context + at.CONTEXT_ARGUMENTS)
    give_block(context, frame, 16 * load(context + at.CONTEXT_FRAME_LIMIT))
    copy(context + at.CONTEXT_ARGUMENTS, kept, FRAME_BYTES)
    store(context + at.CONTEXT_STARTED, load(kept + FRAME_BYTES))
    give_cell(context, kept)


@native
def help_once(context: Address) -> bool:
    """Run this thread's ready kernels, or one task; return False if there is neither.

    If the stack is nearly full, run nothing and return False.
    """
    if stack_room() < HELPERS_RESERVE:
        return False
    if run_ready(context, KERNELS_AT_ONCE) != KERNELS_AT_ONCE:
        return True
    task = take_task(context)
    if task == 0:
        return False
    run_task(context, task)
    return True


@native
def take_task(context: Address) -> Address:
    """Return the next task for a waiting thread, or 0."""
    # In a queue with workers, the workers run the tasks that this thread has spawned.
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        store(context + at.CONTEXT_SPAWNED, 0)
    return next_task(context)


@native
def doze(context: Address, latch: Address, nap_ns: int) -> bool:
    """Sleep until work may be available, the latch is released, or `nap_ns` has passed.

    Return False if the time has passed.
    """
    # If the stack is nearly full, tasks may be waiting that this thread cannot run.
    offer_tasks(context)
    start = now()
    word = latch + at.LATCH_PENDING
    # From now on, `release_latch` adds this thread to PROCESS_RESUMING when it sets the word to 0.
    if compare_and_swap(word, 1, at.LATCH_ASLEEP) == 0:
        return True
    if stack_room() < HELPERS_RESERVE:
        # No stack is left for running tasks, so sleep even if there are tasks.
        share_pending(context)
        advance_epoch(context)
        watch(load(context + at.CONTEXT_QUEUE), word, nap_ns)
        advance_epoch(context)
    else:
        sleep_on_queue(context, word, nap_ns)
    if compare_and_swap(word, at.LATCH_ASLEEP, 1) == 0:
        # The latch was released, so PROCESS_RESUMING counts this thread.
        fetch_add(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RESUMING, -1)
    return now() - start < nap_ns


@inline
def here() -> Address:
    """Return the context of the thread that runs the calling compiled code."""
    return thread_context()
