"""Try all interleavings of a small scenario of native code.

A scenario is a function of a `World`: it fills memory, starts threads, and states what must hold in
the end.

    def scenario(world: World) -> None:
        value = world.label(world.allocate(8), "value")
        memory.store(value, 0)
        for _ in range(2):
            world.thread(lambda: memory.fetch_add(value, 1))
        world.finally_assert(lambda: memory.load(value) == 2)
        world.keep(value)

    assert explore(scenario).complete

`explored` turns such a function into a test. A scenario must do the same each time: it must not use
clocks, its own randomness, or outside state. Of the effects that its threads have on Python
objects, only those of `world.note` are explored.

The first failure is raised with a table of its events, on the schedule with the fewest unexpected
decisions that was found for it; `replay` runs that schedule again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from time import process_time
from typing import Protocol

from tests.exploring.choosers import AllSchedules, FollowSchedule, RandomSchedules
from tests.exploring.reduction import Reduction, Redundant
from tests.simulator.core import Machine, MemoryModel
from tests.simulator.failures import SimulationError
from tests.simulator.footprints import Way
from tests.simulator.scheduler import Chooser
from tests.simulator.world import World

from tfrt_runtime.native import memory

__all__ = [
    "Exploration",
    "Machine",
    "MemoryModel",
    "SimulationError",
    "World",
    "explore",
    "explore_all_orders",
    "explore_at_random",
    "explored",
    "replay",
]

Scenario = Callable[[World], None]
DEFAULT_MACHINE = Machine()
SHRINKING_SECONDS = 2.0
"""The time limit of the search for a simpler schedule for a failure."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """The extent of a search. `complete` says that it skipped nothing.

    `redundant` counts runs that were stopped because they are equivalent to others; `longest` is
    the number of steps of the longest run.
    """

    interleavings: int
    complete: bool
    redundant: int = 0
    longest: int = 0


class _Search(Chooser, Protocol):
    def advance(self) -> bool:
        """Prepare the next run; False when there is none."""


def explore(
    scenario: Scenario,
    machine: Machine = DEFAULT_MACHINE,
    *,
    interleavings: int = 100_000,
    seconds: float = 60.0,
) -> Exploration:
    """Try one interleaving for each behavior of the scenario, until a limit is reached.

    Raises:
        SimulationError: for the first failure.
    """
    load = Way.OBSERVE if machine.model is MemoryModel.RELEASE_ACQUIRE else Way.READ
    return _explore(scenario, machine, Reduction(load), interleavings, seconds)


def explored(scenario: Callable[..., None]) -> Callable[..., None]:
    """Return a test of one scenario in all of its interleavings.

    Pytest provides the arguments after the world.
    """

    @functools.wraps(scenario)
    def test(**given: object) -> None:
        assert explore(functools.partial(scenario, **given)).complete

    _, *parameters = inspect.signature(scenario).parameters.values()
    test.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return test


def explore_all_orders(
    scenario: Scenario,
    machine: Machine = DEFAULT_MACHINE,
    *,
    budget: int | None = None,
    interleavings: int = 100_000,
    seconds: float = 60.0,
) -> Exploration:
    """Try every interleaving, or every one with at most `budget` unexpected decisions.

    Unexpected decisions are interruptions of threads that could continue, outdated values, and
    early returns. With a budget, the result is complete if all interleavings within it were tried.

    Raises:
        SimulationError: for the first failure.
    """
    return _explore(scenario, machine, AllSchedules(budget), interleavings, seconds)


def explore_at_random(
    scenario: Scenario,
    machine: Machine = DEFAULT_MACHINE,
    *,
    seed: int = 0,
    interleavings: int = 1000,
    seconds: float = 60.0,
) -> Exploration:
    """Try random interleavings of a scenario that has too many to try them all; never complete.

    Raises:
        SimulationError: for the first failure.
    """
    return _explore(scenario, machine, RandomSchedules(seed), interleavings, seconds)


def replay(
    scenario: Scenario, schedule: Sequence[int] = (), machine: Machine = DEFAULT_MACHINE
) -> World:
    """Run one schedule; the returned world has its `events`.

    Raises:
        SimulationError: if the schedule ends in a failure; the error then has the events.
    """
    return _watch(scenario, FollowSchedule(schedule), replace(machine, trace=True))


def _explore(
    scenario: Scenario, machine: Machine, search: _Search, interleavings: int, seconds: float
) -> Exploration:
    # Use processor time, so that other load on the machine does not affect what is complete.
    end = process_time() + seconds
    done = redundant = longest = 0
    for _ in count():
        world = World(search, machine)
        try:
            _run(scenario, world)
            done += 1
        except Redundant:
            redundant += 1
        except SimulationError as error:
            raise _explained(scenario, machine, error, world.decisions) from error.__cause__
        longest = max(longest, world.steps)
        if not search.advance():
            return Exploration(done, True, redundant, longest)
        if done >= interleavings or process_time() > end:
            return Exploration(done, False, redundant, longest)
    raise AssertionError("counting does not end")


def _run(scenario: Scenario, world: World) -> None:
    with _as_current(world):
        scenario(world)
        world.run()


@contextmanager
def _as_current(world: World) -> Iterator[None]:
    memory.set_world(world)
    try:
        yield
    finally:
        memory.set_world(None)


def _watch(scenario: Scenario, chooser: Chooser, machine: Machine) -> World:
    world = World(chooser, machine)
    try:
        _run(scenario, world)
    except SimulationError as error:
        error.schedule = _without_zeros(world.decisions)
        error.events = tuple(world.events)
        raise
    return world


def _explained(
    scenario: Scenario, machine: Machine, failure: SimulationError, decisions: Sequence[int]
) -> SimulationError:
    """Return the same kind of failure on a simple schedule, with its events."""
    schedule = _simplest(scenario, machine, type(failure)) or decisions
    try:
        replay(scenario, schedule, machine)
    except SimulationError as explained:
        explained.__cause__ = explained.__cause__ or failure.__cause__
        return explained
    raise AssertionError("the scenario is not repeatable: the failure did not come again")


def _simplest(
    scenario: Scenario, machine: Machine, kind: type[SimulationError]
) -> Sequence[int] | None:
    """Return the shortest schedule with such a failure and the fewest unexpected decisions.

    Return None if there was not enough time to find one.
    """
    end = process_time() + SHRINKING_SECONDS
    for budget in count():
        failed = list(_failures(scenario, machine, kind, budget, end))
        if failed:
            return min(failed, key=lambda world: world.steps).decisions
        if process_time() > end:
            return None
    raise AssertionError("counting does not end")


def _failures(
    scenario: Scenario, machine: Machine, kind: type[SimulationError], budget: int, end: float
) -> Iterator[World]:
    """Yield the runs within the budget that end in such a failure, until the time is up."""
    search = AllSchedules(budget)
    while process_time() < end:
        world = World(search, machine)
        try:
            _run(scenario, world)
        except kind:
            yield world
        except SimulationError:
            pass
        if not search.advance():
            return


def _without_zeros(decisions: Sequence[int]) -> tuple[int, ...]:
    schedule = list(decisions)
    while schedule and schedule[-1] == 0:
        schedule.pop()
    return tuple(schedule)
