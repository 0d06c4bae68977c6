"""Tasks for a queue that is not ours: the native queue is then a letter box that Python empties.

The emptying thread hands each task to the user's queue.  On a thread of that queue `run_one` runs a
task and leaves in the letter box again what became ready, so that the user's queue decides what runs
where, and in which order.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference
from tfrt_runtime.native.calls.executor import run_ready_entry, run_task
from tfrt_runtime.native.calls.kernel_calls import fail_kernel, report_error
from tfrt_runtime.native.memory import Address, entry, inline, load, now, store
from tfrt_runtime.native.queues.blocking_pool import pool_pop
from tfrt_runtime.native.queues.sharing import SLICE_NS, hand_over
from tfrt_runtime.native.queues.tasks import free_task, take_in_order


@entry
def take_tasks(queue: Address) -> Address:
    """Take all compute tasks, as a list by TASK_NEXT in the order in which they came, or 0."""
    return take_in_order(queue)


@entry
def take_blocking(pool: Address) -> Address:
    """Take the oldest blocking task, or 0."""
    return pool_pop(pool)


@inline
def is_heavy_kernel(tagged: Address, record: Address) -> bool:
    """Whether a ready entry is a kernel that is worth a task of its own."""
    return (
        tagged & at.READY_BITS == at.READY_KERNEL
        and load(record + at.RECORD_FLAGS) & at.KERNEL_HEAVY != 0
    )


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
        if not first and is_heavy_kernel(tagged, record):
            break
        store(context + at.CONTEXT_READY_TOP, top)
        run_ready_entry(context, tagged, record)
        if tagged & at.READY_BITS == at.READY_KERNEL:
            budget -= 1
        first = False
        base = load(context + at.CONTEXT_READY)
    store(context + at.CONTEXT_DEADLINE, 0)
    hand_over(context)


@entry
def refuse(context: Address, task: Address) -> None:
    """Fail the kernel of a blocking task that no thread takes."""
    activation = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    store(context + at.CONTEXT_REQUEST, load(activation + at.ACTIVATION_REQUEST))
    failed = report_error(context, record, at.MESSAGE_POOL_FULL)
    fail_kernel(context, activation, record, failed)
    drop_reference(context, failed)
    hand_over(context)
