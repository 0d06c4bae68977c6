"""Test tasks that a thread keeps to itself: in order, in few steps, and never out of reach."""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explore, explore_at_random, explored
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.layouts import TASK_FIRST, TASK_NEXT
from tfrt_runtime.native.memory import load
from tfrt_runtime.native.queues import deques, sharing, tasks

MANY = 60


def inject(host: SimulatedHost, function: int, count: int) -> None:
    """Add tasks 0 to `count` from outside, in this order."""
    for number in range(count):
        deques.inject(host.queue, tasks.new_task(host.main, function, number, 0, 0))


def run_all(context: int) -> list[int]:
    """Take one task after another; return their numbers in the order in which they came."""
    numbers = []
    while (task := tasks.find_task(context)) != 0:
        numbers.append(load(task + TASK_FIRST))
        tasks.free_task(context, task)
    return numbers


class Moves:
    """Counts the tasks that have been moved in lists from one place to another."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._reverse = deques.reverse_tasks
        for module in (deques, tasks):
            monkeypatch.setattr(module, "reverse_tasks", self.reverse)

    def reverse(self, first: int) -> int:
        task = first
        while task != 0:
            self.count += 1
            task = load(task + TASK_NEXT)
        return self._reverse(first)


def test_a_thread_that_takes_one_task_after_the_other_moves_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moves = Moves(monkeypatch)

    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=1)
        (waiting,) = host.outside
        inject(host, 0, MANY)
        numbers = []
        while (task := deques.next_in_order(waiting)) != 0:
            numbers.append(load(task + TASK_FIRST))
            tasks.free_task(waiting, task)
            sharing.hand_over(waiting)  # as at the end of each wait
        world.finally_assert(lambda: numbers == list(range(MANY)))

    explore(scenario)

    assert moves.count == MANY


def test_two_threads_take_tasks_in_order_and_none_is_lost() -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=2)
        ran: list[int] = []

        first, second = host.outside
        made = [tasks.new_task(host.main, host.noting(ran), i, 0, 0) for i in range(4)]
        for task in made[:2]:
            deques.inject(host.queue, task)

        def add_and_work() -> None:
            for task in made[2:]:
                deques.inject(host.queue, task)
            executor.work(second, 1)

        world.thread(lambda: executor.work(first, 1), "first")
        world.thread(add_and_work, "second")

        def check() -> None:
            executor.work(host.main, 100)
            assert sorted(ran) == [0, 1, 2, 3]

        world.finally_assert(check)

    explore(scenario, interleavings=200)
    explore_at_random(scenario, seed=1, interleavings=200)


@pytest.mark.parametrize("has_deque", [False, True])
def test_many_tasks_from_outside_are_taken_in_a_few_moves_each(
    monkeypatch: pytest.MonkeyPatch, has_deque: bool
) -> None:
    monkeypatch.setattr(at, "DEQUE_CAPACITY", 4)
    moves = Moves(monkeypatch)

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=1)
        inject(host, 0, MANY)
        numbers = run_all(host.contexts[0] if has_deque else host.outside[0])
        world.finally_assert(lambda: sorted(numbers) == list(range(MANY)))

    explore(scenario)

    assert moves.count <= 4 * MANY


@explored
def test_of_many_tasks_another_thread_gets_some(world: World) -> None:
    host = SimulatedHost(world, workers=1, outside=2)
    inject(host, 0, 4)
    taken = [tasks.find_task(context) for context in host.outside]
    numbers = [load(task + TASK_FIRST) for task in taken]
    for task in taken:
        tasks.free_task(host.main, task)
    rest = [number for context in host.outside for number in run_all(context)]
    world.finally_assert(lambda: numbers[0] == 0 and sorted(numbers + rest) == [0, 1, 2, 3])


@explored
def test_a_nested_wait_reaches_the_tasks_that_its_thread_has_taken(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    outer, nested = host.outside
    ran: list[int] = []

    def run(context: int, task: int) -> None:
        number = load(task + TASK_FIRST)
        tasks.free_task(context, task)
        if number == 0:  # as `WorkQueue.helper` does for a Python kernel that waits
            sharing.hand_over(context)
            assert executor.work(nested, 100) == 98
        ran.append(number)

    inject(host, host.function(run), 3)
    executor.work(outer, 100)
    world.finally_assert(lambda: ran == [1, 2, 0])


@explored
def test_tasks_that_a_thread_shares_run_once_and_in_order(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    first, second = host.outside
    ran: list[int] = []

    inject(host, host.noting(ran), 3)
    deques.keep_injected(first)

    def share() -> None:
        sharing.hand_over(first)

    world.thread(share, "owner")
    world.thread(lambda: executor.work(second, 100), "other")

    def check() -> None:
        executor.work(second, 100)
        assert ran == [0, 1, 2]

    world.finally_assert(check)


def test_two_threads_that_share_at_once_lose_nothing() -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=2)
        ran: list[int] = []

        function = host.noting(ran)
        for context in host.outside:
            inject(host, function, 2)
            deques.keep_injected(context)
            world.thread(lambda context=context: sharing.hand_over(context), "owner")

        def check() -> None:
            executor.work(host.main, 100)
            assert sorted(ran) == [0, 0, 1, 1]

        world.finally_assert(check)

    explore(scenario, interleavings=200)
    explore_at_random(scenario, seed=1, interleavings=100)
