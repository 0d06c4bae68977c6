"""Test that planted mistakes are found, and that the same protocol without the mistake passes.

Each pair of scenarios differs in one place. The number of interleavings of the right one is fixed
here, so that a reduction that leaves out too much or too little is noticed.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import Machine, MemoryModel, World, explore, explored
from tests.simulator.failures import (
    DataRace,
    Deadlock,
    DoubleFree,
    Leak,
    Livelock,
    SimulationError,
    UseAfterFree,
    WrongOutcome,
)

from tfrt_runtime.native.memory import (
    allocate,
    compare_and_swap,
    exchange,
    fence,
    fetch_add,
    futex_wait,
    futex_wake,
    load,
    load_acquire,
    pause,
    release,
    store,
    store_release,
)

Scenario = Callable[[World], None]
SEQUENTIAL = Machine(model=MemoryModel.SEQUENTIAL)


def word(world: World, name: str, value: int = 0) -> int:
    """Create a word that the scenario keeps."""
    address = world.keep(world.label(allocate(8), name))
    store(address, value)
    return address


# --- a list of waiters: the one `exchange` that publishes and takes ------------------------------

STATE, PAYLOAD, NEXT, DONE = 0, 8, 0, 1


def emplace(value: int, payload: int, run: Callable[[int], None]) -> None:
    store(value + PAYLOAD, payload)
    waiter = exchange(value + STATE, DONE)
    while waiter != 0:
        following = load(waiter + NEXT)
        run(waiter)
        waiter = following


def and_then(value: int, waiter: int, run: Callable[[int], None]) -> None:
    while True:
        head = load_acquire(value + STATE)
        if head == DONE:
            run(waiter)
            return
        store(waiter + NEXT, head)
        if compare_and_swap(value + STATE, head, waiter) != 0:
            return


def and_then_that_stores(value: int, waiter: int, run: Callable[[int], None]) -> None:
    head = load_acquire(value + STATE)
    if head == DONE:
        run(waiter)
        return
    store(waiter + NEXT, head)
    store_release(value + STATE, waiter)


def waiting_on_a_value(wait: Callable[[int, int, Callable[[int], None]], None]) -> Scenario:
    def scenario(world: World) -> None:
        value = world.keep(world.label(allocate(16), "value", {0: "STATE", 8: "PAYLOAD"}))
        store(value + STATE, 0)
        waiters = [world.keep(world.label(allocate(16), f"waiter {i}")) for i in range(2)]
        seen: list[tuple[int, int]] = []

        def run(waiter: int) -> None:
            seen.append((waiter, load(value + PAYLOAD)))

        world.thread(lambda: emplace(value, 42, run), "publisher")
        for waiter in waiters:
            world.thread(lambda waiter=waiter: wait(value, waiter, run))
        world.finally_assert(lambda: sorted(seen) == [(waiter, 42) for waiter in waiters])

    return scenario


def test_a_waiter_that_is_pushed_by_a_store_gets_lost() -> None:
    with pytest.raises(WrongOutcome):
        explore(waiting_on_a_value(and_then_that_stores), SEQUENTIAL)


# --- reference counts ----------------------------------------------------------------------------


def drop(cell: int) -> None:
    if load_acquire(cell) == 1 or fetch_add(cell, -1) == 1:
        release(cell)


def drop_in_two_steps(cell: int) -> None:
    left = load_acquire(cell) - 1
    store_release(cell, left)
    if left == 0:
        release(cell)


def drop_and_look_again(cell: int) -> None:
    fetch_add(cell, -1)
    if load_acquire(cell) == 0:
        release(cell)


def sharing(drop: Callable[[int], None]) -> Scenario:
    def scenario(world: World) -> None:
        cell = world.label(allocate(16), "cell", {0: "REFERENCES", 8: "PAYLOAD"})
        store(cell, 2)
        store(cell + 8, 7)

        def use() -> None:
            assert load(cell + 8) == 7
            drop(cell)

        world.thread(use)
        world.thread(use)

    return scenario


@pytest.mark.parametrize(
    ("drop", "failures"),
    [
        (drop_in_two_steps, (DataRace, Leak)),
        (drop_and_look_again, (DataRace, DoubleFree, UseAfterFree)),
        (release, (DataRace, DoubleFree, UseAfterFree)),
    ],
)
def test_a_wrong_count_frees_twice_too_early_or_never(
    drop: Callable[[int], None], failures: tuple[type[SimulationError], ...]
) -> None:
    with pytest.raises(failures, match="cell"):
        explore(sharing(drop))


# --- publishing ----------------------------------------------------------------------------------


def message_passing(publish: Callable[[int, int], object], see: Callable[[int], int]) -> Scenario:
    def scenario(world: World) -> None:
        data, flag = word(world, "data"), word(world, "flag")

        def write() -> None:
            store(data, 1)
            publish(flag, 1)

        def read() -> None:
            if see(flag) == 1:
                assert load(data) == 1

        world.thread(write)
        world.thread(read)

    return scenario


@pytest.mark.parametrize(
    ("publish", "see"), [(store, load_acquire), (store_release, load), (store, load)]
)
def test_a_plain_access_to_the_flag_is_a_data_race(
    publish: Callable[[int, int], object], see: Callable[[int], int]
) -> None:
    with pytest.raises(DataRace, match="data race on flag: nothing orders"):
        explore(message_passing(publish, see))


def test_plain_writes_that_nothing_orders_race_however_far_apart_they_are() -> None:
    def scenario(world: World) -> None:
        data, other = word(world, "data"), word(world, "other")

        def write() -> None:
            store(data, 1)
            fetch_add(other, 0) if load_acquire(other) else None

        world.thread(write)
        world.thread(write)

    with pytest.raises(DataRace, match="a plain write by thread 2 after a plain write by thread 1"):
        explore(scenario)


# --- store buffering -----------------------------------------------------------------------------


def nothing() -> None:
    pass


def dekker(order: Callable[[], None]) -> Scenario:
    """Return a scenario in which each thread raises its flag, and enters unless the other has."""

    def scenario(world: World) -> None:
        flags = [word(world, "left"), word(world, "right")]
        entered = []

        def enter(mine: int, other: int) -> None:
            store_release(flags[mine], 1)
            order()
            if load_acquire(flags[other]) == 0:
                entered.append(mine)

        world.thread(lambda: enter(0, 1))
        world.thread(lambda: enter(1, 0))
        world.finally_assert(lambda: len(entered) < 2)

    return scenario


def test_without_fences_both_threads_may_read_old_values() -> None:
    with pytest.raises(WrongOutcome) as caught:
        explore(dekker(nothing))
    assert "outdated: newest is 1" in str(caught.value)


# --- sleeping and spinning -----------------------------------------------------------------------


def sleep_until_set(flag: int) -> None:
    while load_acquire(flag) == 0:
        futex_wait(flag, 0, -1)


def set_and_wake(flag: int) -> None:
    exchange(flag, 1)
    futex_wake(flag, 1)


def wake_and_set(flag: int) -> None:
    futex_wake(flag, 1)
    exchange(flag, 1)


def sleeping(wake: Callable[[int], None]) -> Scenario:
    def scenario(world: World) -> None:
        flag = word(world, "flag")
        world.thread(lambda: sleep_until_set(flag), "sleeper")
        world.thread(lambda: wake(flag), "waker")

    return scenario


def test_a_wake_up_before_the_change_gets_lost() -> None:
    with pytest.raises(Deadlock, match="sleeper sleeps on flag"):
        explore(sleeping(wake_and_set))


@explored
def test_a_time_limit_saves_a_sleeper_whose_wake_up_was_lost(world: World) -> None:
    flag = word(world, "flag")

    def sleep() -> None:
        while load_acquire(flag) == 0:
            futex_wait(flag, 0, 1000)

    world.thread(sleep)
    world.thread(lambda: wake_and_set(flag))


def test_one_wake_up_for_two_sleepers_leaves_one_asleep() -> None:
    def scenario(world: World) -> None:
        flag = word(world, "flag")
        world.thread(lambda: sleep_until_set(flag))
        world.thread(lambda: sleep_until_set(flag))
        world.thread(lambda: set_and_wake(flag))

    with pytest.raises(Deadlock, match=r"thread \d sleeps on flag"):
        explore(scenario)


def lock(mutex: int) -> None:
    while compare_and_swap(mutex, 0, 1) == 0:
        pause()


def unlock(mutex: int) -> None:
    store_release(mutex, 0)


def counting_with_a_lock(world: World) -> None:
    """Protect a plain counter with a spin lock."""
    mutex, counter = word(world, "mutex"), word(world, "counter")

    def count() -> None:
        lock(mutex)
        store(counter, load(counter) + 1)
        unlock(mutex)

    for _ in range(3):
        world.thread(count)
    world.finally_assert(lambda: load(counter) == 3)


def test_two_locks_in_opposite_orders_never_end() -> None:
    def scenario(world: World) -> None:
        left, right = word(world, "left"), word(world, "right")

        def both(first: int, second: int) -> None:
            lock(first)
            lock(second)
            unlock(second)
            unlock(first)

        world.thread(lambda: both(left, right))
        world.thread(lambda: both(right, left))

    with pytest.raises(Livelock, match="thread 1 spins on right; thread 2 spins on left"):
        explore(scenario)


def test_a_loop_that_never_gives_way_reaches_the_step_limit() -> None:
    def scenario(world: World) -> None:
        flag = word(world, "flag")

        def wait() -> None:
            while load_acquire(flag) == 0:
                pass

        world.thread(wait)

    with pytest.raises(Livelock, match="no end after 200 steps"):
        explore(scenario, Machine(step_limit=200))


# --- ABA -----------------------------------------------------------------------------------------


def push(head: int, node: int) -> None:
    while True:
        top = load_acquire(head)
        store_release(node, top)
        if compare_and_swap(head, top, node) != 0:
            return


def pop(head: int) -> int:
    while True:
        top = load_acquire(head)
        if top == 0:
            return 0
        following = load_acquire(top)
        if compare_and_swap(head, top, following) != 0:
            return top


def take_all(head: int) -> list[int]:
    nodes, node = [], exchange(head, 0)
    while node != 0:
        nodes.append(node)
        node = load_acquire(node)
    return nodes


def test_a_treiber_stack_that_reuses_nodes_gives_one_node_to_two_threads() -> None:
    def scenario(world: World) -> None:
        head, low, high = word(world, "head"), word(world, "low"), word(world, "high")
        push(head, low)
        push(head, high)
        held: list[int] = []

        def keep_one() -> None:
            held.append(pop(head))

        def keep_the_second() -> None:
            first = pop(head)
            held.append(pop(head))
            push(head, first)

        world.thread(keep_one, "slow")
        world.thread(keep_the_second, "reuser")
        world.finally_assert(lambda: len(set(held + take_all(head)) - {0}) == 2)
        world.finally_assert(lambda: len([n for n in held + take_all(head) if n]) == 2)

    with pytest.raises(WrongOutcome):
        explore(scenario)


def stacking(world: World) -> None:
    """Take a stack only as a whole, which avoids the problem."""
    head, low, high = word(world, "head"), word(world, "low"), word(world, "high")
    taken: list[int] = []
    world.thread(lambda: push(head, low))
    world.thread(lambda: push(head, high))
    world.thread(lambda: taken.extend(take_all(head)))
    world.finally_assert(lambda: sorted(taken + take_all(head)) == sorted([low, high]))


@pytest.mark.parametrize(
    ("scenario", "machine", "interleavings"),
    [
        pytest.param(waiting_on_a_value(and_then), Machine(), 18, id="waiters"),
        pytest.param(sharing(drop), Machine(), 4, id="references"),
        pytest.param(message_passing(store_release, load_acquire), Machine(), 2, id="publishing"),
        pytest.param(dekker(fence), Machine(), 4, id="fences"),
        pytest.param(dekker(nothing), SEQUENTIAL, 3, id="no fences on a sequential machine"),
        pytest.param(sleeping(set_and_wake), Machine(), 3, id="sleeping"),
        pytest.param(counting_with_a_lock, Machine(), 114, id="a lock"),
        pytest.param(stacking, Machine(), 26, id="a stack"),
    ],
)
def test_without_its_mistake_a_protocol_passes_in_so_many_interleavings(
    scenario: Scenario, machine: Machine, interleavings: int
) -> None:
    result = explore(scenario, machine)
    assert (result.complete, result.interleavings) == (True, interleavings)


# --- the report ----------------------------------------------------------------------------------


def test_a_failure_shows_the_simplest_schedule_as_a_table() -> None:
    with pytest.raises(Deadlock) as caught:
        explore(sleeping(wake_and_set), SEQUENTIAL)
    assert str(caught.value).splitlines() == [
        "no thread is left to wake another: sleeper sleeps on flag",
        "step  thread        operation     word          value   function         note",
        "      the scenario  allocate      word@0x10000          word             8 bytes",
        "      the scenario  store         flag          -> 0    word",
        "1     waker         futex_wake    flag                  wake_and_set     no sleeper",
        "2     sleeper       load_acquire  flag          0       sleep_until_set",
        "3     sleeper       futex_wait    flag          0       sleep_until_set  falls asleep",
        "4     waker         exchange      flag          0 -> 1  wake_and_set",
        "4     the scenario  fails" + " " * 48 + caught.value.message,
        "replay with schedule [1, 1]",
    ]
