"""Calls from outside that wait for a thread to start them.

A thread that starts a call often waits for its results at once, and then runs the call itself: that
takes less time than another thread needs to wake up.  Therefore a started call waits on a separate
stack.  Waiting threads take it at once; a worker takes it only after a nap in which no thread took
anything from that stack.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    entry,
    fence,
    fetch_add,
    futex_wait,
    load,
    load_acquire,
    native,
    now,
)
from tfrt_runtime.native.queues.deques import inject_list, reverse_tasks
from tfrt_runtime.native.queues.tasks import (
    add_task,
    advance_epoch,
    arrive,
    depart,
    has_queued_task,
    sleep_on_queue,
    spread_injected,
    wake_sleeper,
)
from tfrt_runtime.native.stacks import push, take_all
from tfrt_runtime.native.trimming import give_if_much

NAP_NS = 500_000


@native
def add_start(context: Address, task: Address) -> None:
    """Add a task that starts a call; a worker will run it if no waiting thread does."""
    queue = load(context + at.CONTEXT_QUEUE)
    if load(queue + at.QUEUE_WORKERS) == 0:
        add_task(context, task)
        return
    push(queue + at.QUEUE_STARTED, task, at.TASK_NEXT)
    # A napping worker stops counting as such before its last check of the stack: either it finds
    # the call, or this thread sees that no worker naps, and wakes one.
    fence()
    if load_acquire(queue + at.QUEUE_NAPPING) == 0:
        wake_sleeper(queue)


@native
def take_start(context: Address) -> Address:
    """Take all started calls: return the oldest, which is to start now, or 0.

    The others go where other threads find them.
    """
    queue = load(context + at.CONTEXT_QUEUE)
    newest = take_started(queue)
    if newest == 0:
        return 0
    return spread_injected(context, reverse_tasks(newest))


@native
def take_started(queue: Address) -> Address:
    """Take the stack of started calls; return its newest task, or 0."""
    newest = take_all(queue + at.QUEUE_STARTED)
    if newest != 0:
        # A napping worker compares this count: if calls were taken, it need not start them.
        fetch_add(queue + at.QUEUE_TAKEN, 1)
    return newest


@native
def sleep_or_nap(context: Address) -> None:
    """Sleep as a worker without work; nap while a call is left that a waiting thread may take."""
    queue = load(context + at.CONTEXT_QUEUE)
    if load_acquire(queue + at.QUEUE_STARTED) == 0:
        give_if_much(context)
        sleep_on_queue(context, 0, -1)
        return
    # Before the nap: if the count is the same after it, no thread took a call in between.
    taken = load_acquire(queue + at.QUEUE_TAKEN)
    end = now() + NAP_NS
    fetch_add(queue + at.QUEUE_NAPPING, 1)
    epoch = arrive(queue)
    if not has_queued_task(context) and load_acquire(queue + at.QUEUE_STOP) == 0:
        advance_epoch(context)
        futex_wait(queue + at.QUEUE_EPOCH, epoch, NAP_NS)
        advance_epoch(context)
    depart(queue)
    # Before the last check for calls, which is either here or in `sleep_on_queue`, after the fence
    # of `arrive`: see `add_start`.
    fetch_add(queue + at.QUEUE_NAPPING, -1)
    if now() >= end and load_acquire(queue + at.QUEUE_TAKEN) == taken:
        begin_started(queue)


@entry
def begin_started(queue: Address) -> None:
    """Let any thread take the started calls."""
    newest = take_started(queue)
    if newest != 0:
        oldest = newest
        while load(oldest + at.TASK_NEXT) != 0:
            oldest = load(oldest + at.TASK_NEXT)
        inject_list(queue, newest, oldest)
        wake_sleeper(queue)
