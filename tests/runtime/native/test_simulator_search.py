"""Test the ways to choose schedules: the reduction skips nothing that full enumeration finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.exploring.choosers import AllSchedules
from tests.exploring.explorer import (
    Exploration,
    Machine,
    MemoryModel,
    explore,
    explore_all_orders,
    explore_at_random,
    replay,
)
from tests.exploring.reduction import Reduction, Redundant
from tests.simulator.failures import SimulationError, WrongOutcome, WrongSchedule
from tests.simulator.footprints import Way
from tests.simulator.world import World

from tfrt_runtime.native import memory
from tfrt_runtime.native.memory import allocate, fetch_add, load, load_acquire, store, store_release

Operation = Callable[[int], object]
Program = list[list[tuple[str, int]]]
"""For each thread, its operations, each with the word that it is on."""


def spin_while_zero(word: int) -> None:
    while load_acquire(word) == 0:
        memory.pause()


def spin_a_little(word: int) -> int:
    for _ in range(3):
        if load_acquire(word) != 0:
            break
        memory.pause()
    return load_acquire(word)


OPERATIONS: dict[str, Operation] = {
    "load": load_acquire,
    "store": lambda word: store_release(word, 1),
    "clear": lambda word: store_release(word, 0),
    "add": lambda word: fetch_add(word, 2),
    "exchange": lambda word: memory.exchange(word, 5),
    "swap 0": lambda word: memory.compare_and_swap(word, 0, 3),
    "swap 1": lambda word: memory.compare_and_swap(word, 1, 0),
    "fence": lambda _: memory.fence(),
    "sleep": lambda word: memory.futex_wait(word, 0, -1),
    "nap": lambda word: memory.futex_wait(word, 0, 100),
    "wake one": lambda word: memory.futex_wake(word, 1),
    "wake all": lambda word: memory.futex_wake(word, 9),
    "spin": spin_while_zero,
    "spin a little": spin_a_little,
}
ATOMICS = ("load", "store", "add", "exchange", "swap 0", "swap 1", "fence")


TOO_MANY = 400
"""The runs of a program that is too large to be explored completely again and again."""


def outcomes(
    program: Program, machine: Machine, search: AllSchedules | Reduction
) -> tuple[set[str], int]:
    """Return all outcomes of the program, and the number of runs."""
    found: set[str] = set()
    runs = 0
    is_left = True
    while is_left:
        world = World(search, machine)
        memory.set_world(world)
        try:
            found.add(run(world, program))
            runs += 1
        except Redundant:
            pass
        finally:
            memory.set_world(None)
        assume(runs < TOO_MANY)
        is_left = search.advance()
    return found, runs


def run(world: World, program: Program) -> str:
    """Run a program, and return what each thread has seen, the memory, and how the run ended."""
    words = [world.keep(allocate(8)) for _ in range(2)]
    seen: list[list[object]] = [[] for _ in program]
    for word in words:
        store(word, 0)
    for results, operations in zip(seen, program, strict=True):
        world.thread(
            lambda results=results, operations=operations: results.extend(
                OPERATIONS[name](words[number]) for name, number in operations
            )
        )
    final: list[int] = []
    world.finally_assert(lambda: final.extend(load(word) for word in words))
    try:
        world.run()
    except SimulationError as error:
        return f"{type(error).__name__} {seen}"
    return f"{seen} {final}"


def programs(names: tuple[str, ...], threads: int, length: int) -> st.SearchStrategy[Program]:
    operation = st.tuples(st.sampled_from(names), st.integers(0, 1))
    return st.lists(st.lists(operation, min_size=1, max_size=length), min_size=2, max_size=threads)


def assert_reduction_finds_everything(program: Program, model: MemoryModel) -> None:
    machine = Machine(model=model, spin_limit=3)
    load_way = Way.OBSERVE if model is MemoryModel.RELEASE_ACQUIRE else Way.READ
    everything, all_runs = outcomes(program, machine, AllSchedules())
    found, runs = outcomes(program, machine, Reduction(load_way))
    assert found == everything
    assert runs <= all_runs


@settings(max_examples=150, derandomize=True)
@given(programs(ATOMICS, threads=2, length=4), st.sampled_from(MemoryModel))
def test_reduction_finds_every_outcome_of_two_threads(program: Program, model: MemoryModel) -> None:
    assert_reduction_finds_everything(program, model)


@settings(max_examples=150, derandomize=True)
@given(programs(ATOMICS, threads=3, length=2), st.sampled_from(MemoryModel))
def test_reduction_finds_every_outcome_of_three_threads(
    program: Program, model: MemoryModel
) -> None:
    assert_reduction_finds_everything(program, model)


@settings(max_examples=100, derandomize=True)
@given(programs(tuple(OPERATIONS), threads=3, length=2), st.sampled_from(MemoryModel))
def test_reduction_finds_every_outcome_of_spinning_and_sleeping(
    program: Program, model: MemoryModel
) -> None:
    assert_reduction_finds_everything(program, model)


def counting(threads: int, words: int) -> Callable[[World], None]:
    """Return a scenario in which each thread adds once to each word shared with its neighbor."""

    def scenario(world: World) -> None:
        counters = [world.keep(world.label(allocate(8), f"counter {i}")) for i in range(words)]
        for counter in counters:
            store(counter, 0)
        for number in range(threads):
            world.thread(lambda number=number: fetch_add(counters[number % words], 1))

    return scenario


def test_independent_operations_are_tried_in_one_order() -> None:
    assert explore(counting(3, 3)) == Exploration(1, True, 0, 3)
    assert explore_all_orders(counting(3, 3)) == Exploration(6, True, 0, 3)


def test_operations_on_one_word_are_tried_in_all_orders() -> None:
    assert explore(counting(4, 1)) == Exploration(24, True, 0, 4)
    assert explore_all_orders(counting(4, 1)) == Exploration(24, True, 0, 4)


def test_two_pairs_that_do_not_meet_multiply() -> None:
    assert explore(counting(4, 2)) == Exploration(4, True, 0, 4)


def lost_update(world: World) -> None:
    counter = world.keep(world.label(allocate(8), "counter"))
    store(counter, 0)

    def add() -> None:
        store_release(counter, load_acquire(counter) + 1)

    for _ in range(2):
        world.thread(add)
    world.finally_assert(lambda: load(counter) == 2)


SEQUENTIAL = Machine(model=MemoryModel.SEQUENTIAL)


def test_a_budget_bounds_how_often_threads_are_interrupted() -> None:
    assert explore_all_orders(lost_update, SEQUENTIAL, budget=0) == Exploration(2, True, 0, 4)
    with pytest.raises(WrongOutcome) as caught:
        explore_all_orders(lost_update, SEQUENTIAL, budget=1)
    assert caught.value.schedule == (0, 1)


def test_random_schedules_find_it_too_and_never_claim_to_be_complete() -> None:
    with pytest.raises(WrongOutcome):
        explore_at_random(lost_update, SEQUENTIAL, seed=1)
    assert explore_at_random(counting(3, 1), interleavings=10) == Exploration(10, False, 0, 3)


def test_an_exploration_that_reaches_a_limit_is_not_complete() -> None:
    assert explore(counting(4, 1), interleavings=5) == Exploration(5, False, 0, 4)


def test_a_failure_can_be_replayed() -> None:
    with pytest.raises(WrongOutcome) as found:
        explore(lost_update)
    with pytest.raises(WrongOutcome) as again:
        replay(lost_update, found.value.schedule)
    assert again.value.events == found.value.events
    assert again.value.schedule == found.value.schedule


def test_a_schedule_that_fits_another_scenario_is_refused() -> None:
    with pytest.raises(WrongSchedule, match="decision 1 is 7, but there are 2 options"):
        replay(lost_update, [7])


def test_a_replay_tells_what_happened_step_by_step() -> None:
    events = replay(counting(2, 1), [1]).events
    assert [(e.step, e.thread, e.operation, e.label, e.value) for e in events if e.step] == [
        (1, "thread 2", "fetch_add", "counter 0", "0 -> 1"),
        (2, "thread 1", "fetch_add", "counter 0", "1 -> 2"),
    ]


def test_notes_of_different_threads_are_tried_in_all_orders() -> None:
    seen = set()

    def scenario(world: World) -> None:
        for name in "abc":
            world.thread(lambda name=name: world.note(name))
        world.finally_assert(lambda: seen.add("".join(map(str, world.notes))))

    assert explore(scenario).interleavings == 6
    assert seen == {"abc", "acb", "bac", "bca", "cab", "cba"}
