"""Test that runs end, and nothing is lost or left, if memory is refused or over budget.

The system may refuse it at any moment. Slabs are small here, and no thread has one at the start, so
that programs request memory from the system all the time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from tests.exploring import simulated_host
from tests.exploring.explorer import World, explore, explore_at_random
from tests.exploring.simulated_host import SimulatedHost
from tests.exploring.simulated_program import check_run, start_workers
from tests.runtime.native.explored.test_executor_interleavings import PROGRAMS, Program, begin

from tfrt_runtime.native import cells
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.coroutines import async_abi, async_groups, async_objects
from tfrt_runtime.native.memory import load, set_thread_context, store
from tfrt_runtime.native.queues import tasks

Refusal = Callable[[int], bool]
"""Returns whether the system refuses its n-th allocation, from 0 on."""

LARGEST_BLOCK = 8
ALWAYS = 10**9


@pytest.fixture(autouse=True)
def _small_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_host, "WARM_CLASSES", 0)
    monkeypatch.setattr(at, "SLAB_ROOM", at.SLAB_BLOCKS + LARGEST_BLOCK * at.CELL_SIZE)
    monkeypatch.setattr(cells, "CARVED_AT_ONCE", 1)
    monkeypatch.setattr(cells, "STOCK", 12)


class Memory:
    """The memory that a world's system and its budget still have, from now on."""

    def __init__(self, host: SimulatedHost, refuses: Refusal, slabs_left: int = ALWAYS) -> None:
        cells.fill_stock(host.process)
        self.asked = count()
        self.has_refused = False
        self._refuses = refuses
        self._host = host
        host.world.refuses = self._answer
        held = load(host.process + at.PROCESS_HELD)
        store(host.process + at.PROCESS_MEMORY_LIMIT, held + slabs_left * at.SLAB_SIZE)

    def _answer(self) -> bool:
        refused = self._refuses(next(self.asked))
        self.has_refused = self.has_refused or refused
        return refused

    def end(self) -> None:
        """Make the system stop refusing memory."""
        self._host.world.refuses = lambda: False


def running(
    program: Program, refuses: Refusal, slabs_left: int = ALWAYS, seen: list[int] | None = None
) -> Callable[[World], None]:
    """Return a scenario of the program on two workers.

    Its results are right or, if memory was refused, errors.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        request = host.request(active=1)
        memory = Memory(host, refuses, slabs_left)
        results = begin(host, request, program, is_task=True)
        start_workers(host, request + at.REQUEST_ACTIVE)

        def check() -> None:
            memory.end()
            check_run(host, request, results, program.results, may_fail=bool(host.refused))
            assert bool(host.refused) or not memory.has_refused
            if seen is not None:
                seen.append(next(memory.asked))

        world.finally_assert(check)

    return scenario


def allocations(program: Program) -> int:
    """Return about how often the program requests memory from the system."""
    seen: list[int] = []
    explore_at_random(running(program, lambda _: False, seen=seen), interleavings=3)
    return max(seen)


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_one_allocation_may_be_refused(name: str) -> None:
    program = PROGRAMS[name]
    for refused in range(allocations(program)):
        explore_at_random(running(program, refused.__eq__), seed=refused, interleavings=4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_from_any_allocation_on_all_may_be_refused(name: str) -> None:
    program = PROGRAMS[name]
    for first in range(allocations(program)):
        explore_at_random(running(program, first.__le__), seed=first, interleavings=4)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_budget_may_be_used_up_at_any_slab(name: str) -> None:
    program = PROGRAMS[name]
    for left in range(allocations(program)):
        scenario = running(program, lambda _: False, slabs_left=left)
        explore_at_random(scenario, seed=left, interleavings=4)


@pytest.mark.parametrize("first", range(6))
def test_tasks_of_threads_that_are_refused_memory_run_once(first: int) -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=2)
        memory = Memory(host, first.__le__)
        done: list[int] = []

        function = host.noting(done)
        for number, context in enumerate(host.outside):

            def add(context: int = context, number: int = number) -> None:
                tasks.add_task(context, tasks.new_task(context, function, 2 * number, 0, 0))
                tasks.add_task(context, tasks.new_task(context, function, 2 * number + 1, 0, 0))

            world.thread(add, "adder")

        def check() -> None:
            memory.end()
            while (task := tasks.find_task(host.contexts[0])) != 0:
                executor.run_task(host.contexts[0], task)
            assert sorted(done) == [0, 1, 2, 3]

        world.finally_assert(check)

    explore(scenario, interleavings=40)


@pytest.mark.parametrize("first", range(8))
def test_groups_and_tokens_of_compiled_code_that_is_refused_memory_resolve(first: int) -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        shared = host.block(at.ASYNC_SIZE, "async", "ASYNC_")
        store(host.queue + at.QUEUE_ASYNC, shared)
        member_resolved = host.function(async_groups.member_resolved)
        store(host.process + at.PROCESS_MEMBER_RESOLVED, member_resolved)
        memory = Memory(host, first.__le__)
        made: list[int] = []

        def make(context: int) -> None:
            set_thread_context(context)
            group = async_abi.create_group(2)
            tokens = [async_abi.create_token() for _ in range(2)]
            for token in tokens:
                async_abi.add_to_group(token, group)
                async_abi.emplace_object(token)
                async_abi.drop_ref(token, 1)
            made.append(group)

        for context in host.contexts:
            world.thread(lambda context=context: make(context), "coroutine")

        def check() -> None:
            memory.end()
            was_told = [load(context + at.CONTEXT_REFUSED) != 0 for context in host.contexts]
            assert any(was_told) == bool(host.refused) == memory.has_refused
            set_thread_context(host.main)
            for group in made:
                assert load(group + at.VALUE_STATE) == at.CONCRETE
                async_abi.drop_ref(group, 1)
            async_objects.async_sweep(host.main, shared)
            assert host.live_values() == 0

        world.finally_assert(check)

    explore_at_random(scenario, seed=first, interleavings=20)
