"""Test that a thread that stops waiting beside a worker does not lose a task's wake-up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import World, explore_at_random
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.memory import load, load_acquire, pause, store, store_release
from tfrt_runtime.native.python import python_waits
from tfrt_runtime.native.queues import sharing, tasks

COUNTERS = (at.QUEUE_SLEEPERS, at.QUEUE_WAITING, at.QUEUE_SEEKERS, at.QUEUE_NAPPING)


def counts(host: SimulatedHost) -> list[int]:
    """Return how many threads of each kind are counted as idle."""
    return [load(host.queue + counter) for counter in COUNTERS]


def work_and_sleep(host: SimulatedHost, worker: int) -> None:
    """Work like a worker, without seeking."""
    while load_acquire(host.queue + at.QUEUE_STOP) == 0:
        if not executor.work_without_starts(worker):
            sharing.sleep_or_nap(worker)


@pytest.mark.parametrize("add", [tasks.add_task, sharing.add_start])
def test_a_worker_runs_what_the_wake_up_of_a_waiting_thread_was_for(
    add: Callable[[int, int], None],
) -> None:
    """The thread waits for a word that changes without a wake-up, while it works for others."""

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=2)
        [worker], [waiter, adder] = host.contexts, host.outside
        word = host.block(8, "word")
        store(word, 1)
        ran: list[int] = []
        function = host.noting(ran, lambda: handles.queue_stop(host.queue))
        task = tasks.new_task(host.main, function, 7, 0, 0)

        def add_and_end_the_wait() -> None:
            while load_acquire(host.queue + at.QUEUE_SLEEPERS) != 2:
                pause()
            add(adder, task)
            store_release(word, 0)

        world.thread(lambda: executor.help_until(waiter, word, 1 << 40), "waiter")
        world.thread(add_and_end_the_wait, "adder")
        world.thread(lambda: work_and_sleep(host, worker), "worker")
        world.finally_assert(lambda: ran == [7] and counts(host) == [0, 0, 0, 0])

    explore_at_random(scenario, seed=1, interleavings=400)


def test_a_worker_runs_what_was_left_to_a_thread_that_sought_work() -> None:
    """The owner of the task never returns to it; the seeking thread's run ends elsewhere."""

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2, outside=1)
        [owner, worker], [seeker] = host.contexts, host.outside
        request = host.request()
        store(request + at.REQUEST_OPEN, 1)
        store(seeker + at.CONTEXT_SEEKING_UNTIL, 1 << 40)
        ran: list[int] = []
        function = host.noting(ran, lambda: handles.queue_stop(host.queue))
        task = tasks.new_task(host.main, function, 7, 0, 0)

        def add_and_end_the_run() -> None:
            while load_acquire(host.queue + at.QUEUE_SEEKERS) == 0:
                pause()
            tasks.add_sought_task(owner, task)
            store_release(request + at.REQUEST_OPEN, 0)

        world.thread(lambda: python_waits.work_until(seeker, request, True, 1 << 40), "seeker")
        world.thread(add_and_end_the_run, "owner")
        world.thread(lambda: work_and_sleep(host, worker), "worker")
        world.finally_assert(lambda: ran == [7] and counts(host) == [0, 0, 0, 0])

    explore_at_random(scenario, seed=1, interleavings=100)
