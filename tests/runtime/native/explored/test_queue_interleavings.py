"""Test small scenes with the compute queue: deque, injected stack, and sleeping.

Every interleaving is tried.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import (
    Machine,
    MemoryModel,
    World,
    explore,
    explore_at_random,
    explored,
)
from tests.exploring.simulated_host import SimulatedHost, name_cell
from tests.simulator.failures import Deadlock, WrongOutcome

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.layouts import QUEUE_SLEEPERS, QUEUE_STOP, TASK_FIRST, TASK_NEXT
from tfrt_runtime.native.memory import (
    allocate,
    fetch_add,
    load,
    load_acquire,
    pause,
    store,
    store_release,
)
from tfrt_runtime.native.queues import deques, tasks


def pop_all(deque: int) -> list[int]:
    """Pop all tasks left in a deque, as its owner."""
    found = []
    while (task := deques.pop_bottom(deque)) != 0:
        found.append(task)
    return found


class DequeScene:
    """The owner pushes and pops, and thieves steal once each: every task is taken exactly once."""

    def __init__(self, before: int, pushes: int, pops: int, thieves: int) -> None:
        self.before = before
        self.pushes = pushes
        self.pops = pops
        self.thieves = thieves

    def __call__(self, world: World) -> None:
        [deque] = SimulatedHost(world, workers=1).deques
        taken: list[int] = []
        refused: list[int] = []
        for number in range(self.before):
            deques.push_bottom(deque, 1 + number)

        def own() -> None:
            for number in range(self.pushes):
                if not deques.push_bottom(deque, 101 + number):
                    refused.append(101 + number)
            for _ in range(self.pops):
                taken.append(deques.pop_bottom(deque))

        world.thread(own, "owner")
        for _ in range(self.thieves):
            world.thread(lambda: taken.append(deques.steal_top(deque)), "thief")
        old, new = range(1, 1 + self.before), range(101, 101 + self.pushes)
        world.finally_assert(
            lambda: (
                sorted([task for task in taken if task] + refused + pop_all(deque)) == [*old, *new]
            )
        )


@pytest.mark.parametrize(
    "scene",
    [
        DequeScene(before=1, pushes=0, pops=1, thieves=1),
        DequeScene(before=1, pushes=0, pops=1, thieves=2),
        DequeScene(before=2, pushes=0, pops=1, thieves=2),
        DequeScene(before=2, pushes=0, pops=2, thieves=1),
        DequeScene(before=0, pushes=1, pops=1, thieves=1),
        DequeScene(before=0, pushes=2, pops=2, thieves=1),
        DequeScene(before=1, pushes=1, pops=2, thieves=2),
    ],
)
def test_every_task_of_a_deque_is_taken_once(scene: DequeScene) -> None:
    assert explore(scene).complete


def test_a_full_deque_refuses_a_task_and_keeps_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at, "DEQUE_CAPACITY", 2)
    assert explore(DequeScene(before=2, pushes=2, pops=1, thieves=2)).complete


def test_without_its_fences_a_deque_gives_a_task_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deques, "fence", lambda: None)
    with pytest.raises(WrongOutcome):
        explore(DequeScene(before=2, pushes=0, pops=1, thieves=2))


@pytest.mark.parametrize(("adders", "takers"), [(1, 2), (2, 1), (2, 2)])
@explored
def test_every_injected_task_is_taken_once(world: World, adders: int, takers: int) -> None:
    host = SimulatedHost(world, outside=takers)
    seen: list[int] = []

    def take(context: int) -> None:
        task = deques.take_injected(host.queue)
        while task != 0:
            following = load(task + TASK_NEXT)
            seen.append(load(task + TASK_FIRST))
            tasks.free_task(context, task)
            task = following

    for number in range(adders):
        task = tasks.new_task(host.main, 0, number, 0, 0)
        name_cell(world, task, f"task {number}", "TASK_")
        world.thread(lambda task=task: deques.inject(host.queue, task))
    for context in host.outside:
        world.thread(lambda context=context: take(context))

    def check() -> None:
        take(host.main)
        assert sorted(seen) == list(range(adders))

    world.finally_assert(check)


@explored
def test_injected_tasks_are_taken_in_the_order_in_which_they_came(world: World) -> None:
    host = SimulatedHost(world)
    first, second = (tasks.new_task(host.main, 0, n, 0, 0) for n in range(2))

    def add() -> None:
        deques.inject(host.queue, first)
        deques.inject(host.queue, second)

    world.thread(add)

    def check() -> None:
        assert deques.take_injected(host.queue) == first
        assert load(first + TASK_NEXT) == second
        assert load(second + TASK_NEXT) == 0
        tasks.free_task(host.main, first)
        tasks.free_task(host.main, second)

    world.finally_assert(check)


class SleepingScene:
    """A scene in which workers sleep if there is no task, until every added task has run."""

    def __init__(self, workers: int, adders: int) -> None:
        self.workers = workers
        self.adders = adders

    def __call__(self, world: World) -> None:
        host = SimulatedHost(world, workers=self.workers, outside=self.adders)
        left = world.keep(world.label(allocate(8), "left"))
        store(left, self.adders)
        ran: list[int] = []

        def count_down() -> None:
            if fetch_add(left, -1) == 1:
                tasks.wake_waiting(host.queue)

        def work(context: int) -> None:
            while load_acquire(left) != 0:
                task = tasks.find_task(context)
                if task != 0:
                    executor.run_task(context, task)
                else:
                    tasks.sleep_on_queue(context, left, -1)

        function = host.noting(ran, count_down)
        for context in host.contexts:
            world.thread(lambda context=context: work(context), "worker")
        for number, context in enumerate(host.outside):
            world.thread(
                lambda context=context, number=number: tasks.add_task(
                    context, tasks.new_task(context, function, number, 0, 0)
                ),
                "adder",
            )

        def check() -> None:
            assert sorted(ran) == list(range(self.adders))
            assert load(host.queue + QUEUE_SLEEPERS) == 0

        world.finally_assert(check)


def test_no_wake_up_is_lost_between_one_worker_and_one_who_adds() -> None:
    assert explore(SleepingScene(workers=1, adders=1)).complete


@pytest.mark.parametrize("scene", [SleepingScene(1, 2), SleepingScene(2, 1), SleepingScene(2, 2)])
def test_no_wake_up_is_lost_among_more_of_them(scene: SleepingScene) -> None:
    explore(scene, interleavings=100)
    explore_at_random(scene, seed=1, interleavings=100)


@explored
def test_no_wake_up_is_lost_when_another_thread_has_taken_what_the_last_one_was_for(
    world: World,
) -> None:
    host = SimulatedHost(world, workers=1, outside=1)
    word, function = word_and_its_task(world, host)
    (worker,), (other,) = host.contexts, host.outside
    first, second = [tasks.new_task(host.main, function, i, 0, 0) for i in range(2)]

    def take_and_free() -> None:
        task = deques.take_injected(host.queue)
        if task != 0:
            tasks.free_task(other, task)

    def add_take_and_add() -> None:
        tasks.add_task(other, first)
        take_and_free()
        tasks.add_task(other, second)

    world.thread(lambda: work_until_zero(worker, word, lambda _: False), "worker")
    world.thread(add_take_and_add, "other")
    world.finally_assert(take_and_free)  # the worker is done after one task


def word_and_its_task(world: World, host: SimulatedHost) -> tuple[int, int]:
    """Return a word that is 1, and the address of a task function that sets it to 0."""
    word = world.keep(world.label(allocate(8), "word"))
    store(word, 1)

    def end_the_wait() -> None:
        store_release(word, 0)
        tasks.wake_waiting(host.queue)

    return word, host.noting([], end_the_wait)


def work_until_zero(context: int, word: int, seeks: Callable[[int], bool]) -> None:
    """Work as a worker.

    If it finds no task, `seeks` says whether it searches again without sleeping.
    """
    while load_acquire(word) != 0:
        task = tasks.find_task(context)
        if task != 0:
            executor.run_task(context, task)
        elif not seeks(context):
            tasks.sleep_on_queue(context, word, -1)


def seeking(seekers: int) -> Callable[[World], None]:
    """Return a scenario in which a worker adds a task for seeking threads, and leaves it."""

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1 + seekers)
        word, function = word_and_its_task(world, host)

        def work(context: int) -> None:
            work_until_zero(context, word, lambda context: executor.seek(context, host.queue))

        owner, *others = host.contexts
        task = tasks.new_task(host.main, function, 0, 0, 0)
        world.thread(lambda: tasks.add_sought_task(owner, task), "owner")
        for context in others:
            world.thread(lambda context=context: work(context), "seeker")

        def check() -> None:
            assert load(word) == 0
            assert load(host.queue + at.QUEUE_SEEKERS) == 0

        world.finally_assert(check)

    return scenario


def test_a_task_for_those_that_seek_work_is_found_by_one_that_is_about_to_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executor, "SPIN_ROUNDS", 1)
    explore(seeking(1), interleavings=1500)
    explore_at_random(seeking(1), seed=1, interleavings=500)
    explore_at_random(seeking(2), seed=1, interleavings=300)


def test_a_thread_is_free_while_it_wakes_up_for_a_task_that_another_one_has_taken() -> None:
    outcomes: set[tuple[int, int]] = set()

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=1)
        [worker], [adder] = host.contexts, host.outside

        def add() -> None:
            while load_acquire(host.queue + QUEUE_SLEEPERS) == 0:
                pause()
            assert tasks.free_threads(adder) == 1
            tasks.add_task(adder, tasks.new_task(adder, 0, 0, 0, 0))
            queued = tasks.free_threads(adder)
            tasks.free_task(adder, tasks.find_task(adder))
            outcomes.add((queued, tasks.free_threads(adder)))

        world.thread(lambda: tasks.sleep_on_queue(worker, 0, -1), "worker")
        world.thread(add, "adder")
        world.finally_assert(lambda: tasks.free_threads(host.main) == 0)

    assert explore(scenario).complete
    assert outcomes == {(0, 0), (0, 1)}


def seek_once(context: int) -> None:
    """Seek work, and find none."""
    tasks.begin_seeking(context)
    tasks.end_seeking(context)


@pytest.mark.parametrize("be_idle", [tasks.rest, seek_once])
def test_a_thread_that_rests_or_seeks_work_is_free(be_idle: Callable[[int], None]) -> None:
    outcomes: set[int] = set()

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=1)
        [worker], [other] = host.contexts, host.outside

        world.thread(lambda: be_idle(worker), "worker")
        world.thread(lambda: outcomes.add(tasks.free_threads(other)), "other")
        world.finally_assert(lambda: tasks.free_threads(host.main) == 0)

    assert explore(scenario).complete
    assert outcomes == {0, 1}


def watching(watchers: int) -> Callable[[World], None]:
    """Return a scenario in which a worker runs the task that sets a word to 0.

    Threads that take no tasks wait for the word.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=1)
        word, function = word_and_its_task(world, host)

        def work(context: int) -> None:
            work_until_zero(context, word, lambda _: False)

        def watch() -> None:
            while load_acquire(word) != 0:
                tasks.watch(host.queue, word, -1)

        world.thread(lambda: work(host.contexts[0]), "worker")
        world.thread(
            lambda: tasks.add_task(
                host.outside[0], tasks.new_task(host.outside[0], function, 0, 0, 0)
            ),
            "adder",
        )
        for _ in range(watchers):
            world.thread(watch, "watcher")
        world.finally_assert(lambda: load(word) == 0)

    return scenario


def test_threads_that_wait_and_take_no_tasks_lose_no_wake_up_and_take_none_away() -> None:
    explore(watching(1), interleavings=1000)
    explore_at_random(watching(2), seed=1, interleavings=300)


def test_without_its_fences_a_thread_that_waits_loses_its_wake_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "fence", lambda: None)
    with pytest.raises(Deadlock, match="watcher sleeps on queue.NEWS"):
        explore_at_random(watching(1), seed=1, interleavings=5000)


def test_without_its_fences_a_wake_up_gets_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "fence", lambda: None)
    with pytest.raises(Deadlock, match="worker sleeps on queue.EPOCH"):
        explore(SleepingScene(workers=1, adders=1))


def test_on_a_sequential_machine_no_wake_up_is_lost_without_fences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "fence", lambda: None)
    assert explore(SleepingScene(1, 1), Machine(model=MemoryModel.SEQUENTIAL)).complete


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_return_when_the_queue_stops(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "SPIN_ROUNDS", 1)

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=workers)
        for context in host.contexts:
            world.thread(lambda context=context: executor.worker_loop(context), "worker")
        world.thread(lambda: handles.queue_stop(host.queue), "stopper")
        world.finally_assert(lambda: load(host.queue + QUEUE_STOP) == 1)

    explore(scenario, interleavings=200)


def test_a_thief_that_rests_comes_back_for_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "SPIN_ROUNDS", 1)
    count = 3

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        owner, thief = host.contexts
        ran: list[int] = []

        def stop_after_the_last() -> None:
            if len(ran) == count:
                handles.queue_stop(host.queue)

        def add() -> None:
            for number in range(count):
                tasks.add_task(owner, tasks.new_task(owner, function, number, 0, 0))

        function = host.noting(ran, stop_after_the_last)
        world.thread(add, "owner")
        world.thread(lambda: executor.worker_loop(thief), "thief")

        def check() -> None:
            assert ran == list(range(count))
            assert load(host.queue + QUEUE_SLEEPERS) == 0

        world.finally_assert(check)

    explore(scenario, interleavings=200)
    explore_at_random(scenario, seed=1, interleavings=100)
