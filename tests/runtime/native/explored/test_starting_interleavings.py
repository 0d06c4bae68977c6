"""Test calls that are started from outside, in many interleavings: each starts once."""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explore, explore_at_random, explored
from tests.exploring.simulated_host import SimulatedHost
from tests.simulator.failures import Deadlock

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.memory import allocate, fetch_add, load, load_acquire, store
from tfrt_runtime.native.queues import sharing, tasks


class StartingScene:
    """Threads start a call each; workers nap and waiting threads help, until all calls have run."""

    def __init__(self, workers: int, starters: int, helpers: int) -> None:
        self.workers = workers
        self.starters = starters
        self.helpers = helpers

    def __call__(self, world: World) -> None:
        host = SimulatedHost(world, workers=self.workers, outside=self.starters + self.helpers)
        left = world.keep(world.label(allocate(8), "left"))
        store(left, self.starters)
        ran: list[int] = []

        def count_down() -> None:
            if fetch_add(left, -1) == 1:
                handles.queue_stop(host.queue)

        def work(context: int) -> None:
            while load_acquire(host.queue + at.QUEUE_STOP) == 0:
                if not executor.work_without_starts(context):
                    sharing.sleep_or_nap(context)

        def help_out(context: int) -> None:
            while load_acquire(left) != 0:
                if executor.work(context, 10) == 10:
                    tasks.sleep_on_queue(context, left, -1)

        def start(context: int, number: int) -> None:
            sharing.add_start(context, tasks.new_task(context, function, number, 0, 0))

        function = host.noting(ran, count_down)
        for context in host.contexts:
            world.thread(lambda context=context: work(context), "worker")
        for number, context in enumerate(host.outside[: self.starters]):
            world.thread(lambda context=context, number=number: start(context, number), "starter")
        for context in host.outside[self.starters :]:
            world.thread(lambda context=context: help_out(context), "helper")

        def check() -> None:
            assert sorted(ran) == list(range(self.starters))
            for counter in (at.QUEUE_NAPPING, at.QUEUE_SLEEPERS, at.QUEUE_WAITING):
                assert load(host.queue + counter) == 0

        world.finally_assert(check)


def test_a_worker_begins_a_call_that_nobody_waits_for() -> None:
    assert explore(StartingScene(workers=1, starters=1, helpers=0)).complete


@pytest.mark.parametrize(
    "scene", [StartingScene(1, 2, 0), StartingScene(1, 1, 1), StartingScene(2, 1, 1)]
)
def test_each_call_begins_once_whoever_takes_it(scene: StartingScene) -> None:
    explore(scene, interleavings=100)
    explore_at_random(scene, seed=1, interleavings=200)


@explored
def test_a_call_that_comes_when_a_nap_ends_wakes_the_worker(world: World) -> None:
    host = SimulatedHost(world, workers=1, outside=1)
    [worker], [starter] = host.contexts, host.outside
    task = tasks.new_task(host.main, 0, 7, 0, 0)
    store(host.queue + at.QUEUE_NAPPING, 1)

    def end_nap() -> None:
        fetch_add(host.queue + at.QUEUE_NAPPING, -1)
        tasks.sleep_on_queue(worker, 0, -1)

    def check() -> None:
        assert sharing.take_started(host.queue) == task
        tasks.free_task(host.main, task)

    world.thread(end_nap, "worker")
    world.thread(lambda: sharing.add_start(starter, task), "starter")
    world.finally_assert(check)


def test_a_worker_that_does_not_look_for_calls_before_it_sleeps_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "has_task", tasks.has_queued_task)
    with pytest.raises(Deadlock, match="worker sleeps on queue.EPOCH"):
        explore(StartingScene(workers=1, starters=1, helpers=0))
