"""Test small scenes with the blocking pool: its ring, its idle threads, and its end.

Every interleaving is tried.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import Machine, World, explore, explore_at_random, explored
from tests.exploring.simulated_host import SimulatedHost
from tests.simulator.failures import Deadlock

from tfrt_runtime.native import handles
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.layouts import POOL_LIMIT, POOL_STOP, POOL_THREADS
from tfrt_runtime.native.memory import (
    allocate,
    fetch_add,
    futex_wait,
    futex_wake,
    load,
    load_acquire,
    now,
    store,
)
from tfrt_runtime.native.queues import blocking_pool, tasks

IDLE_NS = 100
"""Longer than any run of a scenario in which no sleep times out."""


def add_blocking(context: int, function: int, first: int = 0) -> None:
    """Give a task to the blocking pool, if it has room."""
    task = tasks.new_task(context, function, first, 0, 0)
    if not blocking_pool.add_blocking_task(context, task):
        tasks.free_task(context, task)


@pytest.mark.parametrize(
    ("producers", "consumers", "places"), [(1, 1, 2), (2, 1, 2), (1, 2, 2), (2, 2, 2)]
)
@explored
def test_every_task_of_the_ring_is_taken_once_or_refused(
    world: World, producers: int, consumers: int, places: int
) -> None:
    pool = SimulatedHost(world, pool_places=places).pool
    taken: list[int] = []
    refused: list[int] = []

    def push(task: int) -> None:
        if not blocking_pool.pool_push(pool, task):
            refused.append(task)

    for number in range(producers):
        world.thread(lambda number=number: push(1 + number), "producer")
    for _ in range(consumers):
        world.thread(lambda: taken.append(blocking_pool.pool_pop(pool)), "consumer")

    def check() -> None:
        while (task := blocking_pool.pool_pop(pool)) != 0:
            taken.append(task)
        assert sorted([t for t in taken if t] + refused) == list(range(1, 1 + producers))
        assert len(refused) <= max(0, producers - places)

    world.finally_assert(check)


@explored
def test_a_place_of_the_ring_is_filled_again_only_after_its_task_is_taken(world: World) -> None:
    pool = SimulatedHost(world, pool_places=2).pool
    taken: list[int] = []
    assert blocking_pool.pool_push(pool, 1) and blocking_pool.pool_push(pool, 2)
    pushed: list[bool] = []
    world.thread(lambda: taken.append(blocking_pool.pool_pop(pool)), "consumer")
    world.thread(lambda: pushed.append(blocking_pool.pool_push(pool, 3)), "producer")

    def check() -> None:
        while (task := blocking_pool.pool_pop(pool)) != 0:
            taken.append(task)
        assert taken == ([1, 2, 3] if pushed == [True] else [1, 2])

    world.finally_assert(check)


def flag(world: World, name: str) -> int:
    """Create a futex word of the scenario, which is 0 at first."""
    address = world.keep(world.label(allocate(8), name))
    store(address, 0)
    return address


def count_up(address: int) -> int:
    """Increment the number, let waiting threads check again, and return the new number."""
    count = fetch_add(address, 1) + 1
    futex_wake(address, 9)
    return count


def wait_for(address: int, count: int) -> None:
    """Sleep until the number at `address` is at least `count`."""
    while (present := load_acquire(address)) < count:
        futex_wait(address, present, -1)


def meeting(people: int) -> Callable[[World], None]:
    """Add as many tasks as the pool has threads; each task waits until all of them run."""

    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=2 * people, pool_places=4)
        present = flag(world, "present")
        store(host.pool + POOL_THREADS, people)
        store(host.pool + POOL_LIMIT, people)

        def come(context: int, task: int) -> None:
            tasks.free_task(context, task)
            if count_up(present) == people:
                handles.pool_stop(host.pool)
            wait_for(present, people)

        function = host.function(come)
        for context in host.outside[:people]:
            world.thread(
                lambda context=context: add_blocking(context, function),
                "adder",
            )
        for context in host.outside[people:]:
            world.thread(
                lambda context=context: executor.blocking_loop(context, host.pool, -1), "blocking"
            )
        world.finally_assert(lambda: load(present) == people)

    return scenario


def test_an_idle_thread_is_woken_for_a_task() -> None:
    assert explore(meeting(1)).complete


def test_idle_threads_are_woken_for_as_many_tasks() -> None:
    explore_at_random(meeting(2), seed=1, interleavings=500)


def test_without_its_fences_the_pool_loses_a_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking_pool, "fence", lambda: None)
    with pytest.raises(Deadlock, match="blocking sleeps on pool.EPOCH"):
        explore(meeting(1))


@pytest.mark.parametrize(("threads", "interleavings"), [(1, 1000), (2, 100)])
def test_the_threads_return_when_the_pool_stops(threads: int, interleavings: int) -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=threads, pool_places=2)
        for context in host.outside:
            world.thread(
                lambda context=context: executor.blocking_loop(context, host.pool, -1), "blocking"
            )
        world.thread(lambda: handles.pool_stop(host.pool), "stopper")
        world.finally_assert(lambda: load(host.pool + POOL_STOP) == 1)

    explore(scenario, interleavings=interleavings)


@explored
def test_a_task_finds_the_thread_that_is_about_to_leave_or_asks_for_another_one(
    world: World,
) -> None:
    host = SimulatedHost(world, outside=2, pool_places=2)
    adder, leaving = host.outside
    store(host.pool + POOL_THREADS, 1)
    store(host.pool + POOL_LIMIT, 4)
    ran: list[int] = []

    function = host.noting(ran)
    world.thread(lambda: add_blocking(adder, function, 7), "adder")
    world.thread(lambda: executor.blocking_loop(leaving, host.pool, 100), "leaving")

    def check() -> None:
        task = blocking_pool.pool_pop(host.pool)
        if task != 0:
            assert host.needed > 0
            executor.run_task(host.main, task)
        assert ran == [7]

    world.finally_assert(check)


def idle_threads(count: int) -> Callable[[World], None]:
    """Return a scenario with a task for one of several idle threads.

    Each thread exits after its idle time, and not before.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=1 + count, pool_places=2)
        adder, *idle = host.outside
        store(host.pool + POOL_THREADS, count)
        store(host.pool + POOL_LIMIT, count)
        idle_since: dict[int, int] = {}

        def run(context: int, task: int) -> None:
            tasks.free_task(context, task)
            idle_since[context] = now()

        def live(context: int) -> None:
            idle_since[context] = now()
            executor.blocking_loop(context, host.pool, IDLE_NS)
            assert now() - idle_since[context] >= IDLE_NS, "a thread leaves before its time is over"

        function = host.function(run)
        world.thread(lambda: add_blocking(adder, function), "adder")
        for context in idle:
            world.thread(lambda context=context: live(context), "idle")

        def check() -> None:
            while (task := blocking_pool.pool_pop(host.pool)) != 0:
                tasks.free_task(host.main, task)

        world.finally_assert(check)

    return scenario


@pytest.mark.parametrize("is_woken_for_no_reason", [False, True])
def test_an_idle_thread_leaves_when_its_time_is_over_and_not_before(
    is_woken_for_no_reason: bool,
) -> None:
    machine = Machine(spurious_wakeups=is_woken_for_no_reason)
    assert explore(idle_threads(1), machine).complete
    explore_at_random(idle_threads(2), machine, interleavings=500)


def patience(world: World) -> None:
    """Let a task wait for the next one, in a pool of one thread that may have one more.

    The second thread starts when the pool requests it, and not before.
    """
    host = SimulatedHost(world, outside=3, pool_places=4)
    adder, first, second = host.outside
    asked, is_done = flag(world, "asked"), flag(world, "is done")
    host.on_need_thread = lambda: count_up(asked)
    store(host.pool + POOL_THREADS, 1)
    store(host.pool + POOL_LIMIT, 2)

    def wait(context: int, task: int) -> None:
        tasks.free_task(context, task)
        wait_for(is_done, 1)
        handles.pool_stop(host.pool)
        count_up(asked)

    def end_the_wait(context: int, task: int) -> None:
        tasks.free_task(context, task)
        count_up(is_done)

    def add() -> None:
        add_blocking(adder, host.function(wait))
        add_blocking(adder, host.function(end_the_wait))

    def come_when_asked() -> None:
        wait_for(asked, 1)
        executor.blocking_loop(second, host.pool, -1)

    world.thread(add, "adder")
    world.thread(lambda: executor.blocking_loop(first, host.pool, -1), "first")
    world.thread(come_when_asked, "second")


def test_a_task_that_blocks_holds_up_nobody_else() -> None:
    explore_at_random(patience, seed=0, interleavings=500)
