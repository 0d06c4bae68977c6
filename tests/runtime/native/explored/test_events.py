"""Test a ring of events between its writer and its reader, in every order."""

from __future__ import annotations

import pytest
from tests.exploring.explorer import Machine, MemoryModel, World, explore
from tests.exploring.simulated_host import SimulatedHost
from tests.simulator.failures import SimulationError

from tfrt_runtime.native import events, memory
from tfrt_runtime.native import layouts as at

CAPACITY, WRITTEN, DRAINS = 2, 3, 2


@pytest.fixture(autouse=True)
def small_rings(monkeypatch):
    """Use rings with room for two events, and no clock."""
    monkeypatch.setattr(at, "LOG_CAPACITY", CAPACITY)
    monkeypatch.setattr(events, "ticks", lambda: 0)


def a_writer_and_a_reader(world: World) -> None:
    host = SimulatedHost(world, workers=1)
    context = host.contexts[0]
    ring = host.block(at.LOG_RECORDS + at.LOG_RECORD * CAPACITY, "ring")
    target = host.block(at.LOG_RECORD * CAPACITY, "target")
    memory.store(context + at.CONTEXT_LOG, ring)
    got: list[int] = []

    def write() -> None:
        for number in range(1, WRITTEN + 1):
            events.write_event(context, number, number, number)

    def read() -> None:
        for _ in range(DRAINS):
            count = events.log_drain(ring, target, CAPACITY)
            for i in range(memory.load(ring + at.LOG_SKIP), count):
                words = [memory.load(target + at.LOG_RECORD * i + word) for word in (8, 16, 24)]
                assert words[0] == words[1] & 0xFF == words[2], "a torn record"
                got.append(words[0])

    def nothing_is_unaccounted_for() -> bool:
        left = memory.load(ring + at.LOG_HEAD) - memory.load(ring + at.LOG_TAIL)
        return (
            got == sorted(set(got)) and len(got) + memory.load(ring + at.LOG_LOST) + left == WRITTEN
        )

    world.thread(write)
    world.thread(read)
    world.finally_assert(nothing_is_unaccounted_for)


@pytest.mark.parametrize("model", [MemoryModel.SEQUENTIAL, MemoryModel.RELEASE_ACQUIRE])
def test_a_reader_gets_whole_records_and_counts_those_that_it_missed(model):
    assert explore(a_writer_and_a_reader, Machine(model=model))


@pytest.mark.parametrize("wrong", ["torn", "plain"])
def test_the_scenario_finds_a_reader_and_a_writer_that_are_wrong(monkeypatch, wrong):
    if wrong == "plain":
        monkeypatch.setattr(events, "store_release", memory.store)
    else:

        def too_few(first: int, second: int) -> int:
            return max(first - 1, second)

        monkeypatch.setattr(events, "max", too_few, raising=False)
    with pytest.raises((SimulationError, AssertionError)):
        explore(a_writer_and_a_reader, Machine(model=MemoryModel.RELEASE_ACQUIRE))
