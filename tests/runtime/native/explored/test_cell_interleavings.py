"""Test batches of blocks that threads exchange with the depot while another one trims it."""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explore, explored
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import cells, trimming
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import load, now, store

CLASS = 7
"""A size of which the host itself has no blocks."""
BLOCKS = at.FREE_CLASSES // CLASS
"""The number of blocks in a slab."""


@pytest.fixture(autouse=True)
def small_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at, "SLAB_ROOM", at.SLAB_BLOCKS + at.FREE_CLASSES * at.CELL_SIZE)
    monkeypatch.setattr(at, "BATCH_CELLS", CLASS * BLOCKS)
    for module in (cells, trimming):
        monkeypatch.setattr(module, "STOCK", 0)


def blocks_of(batch: int) -> list[int]:
    """Return the blocks of a batch, which stores their number."""
    count = load(batch + at.BATCH_COUNT)
    blocks = []
    while batch != 0:
        blocks.append(batch)
        batch = load(batch + at.VALUE_NEXT)
    assert len(blocks) == count
    return blocks


def give_batch(host: SimulatedHost, blocks: list[int]) -> None:
    for block, following in zip(blocks, [*blocks[1:], 0], strict=True):
        store(block + at.VALUE_NEXT, following)
    store(blocks[0] + at.BATCH_COUNT, len(blocks))
    store(blocks[0] + at.BATCH_NEXT, 0)
    cells.give_batches(host.process, CLASS, blocks[0], blocks[0])


def take_batch(host: SimulatedHost) -> list[int]:
    """Take a batch from the depot, write to its blocks, and return them, or [] without a batch."""
    batch = cells.take_batch(host.process, CLASS)
    blocks = [] if batch == 0 else blocks_of(batch)
    for block in blocks:
        store(block + 8, block)
    return blocks


def left_in(host: SimulatedHost) -> list[int]:
    """Take all blocks from the depot, and return them."""
    blocks: list[int] = []
    while batch := take_batch(host):
        blocks += batch
    return blocks


def give_back(host: SimulatedHost, blocks: list[int]) -> None:
    for block in blocks:
        cells.give_block(host.main, block, CLASS * at.CELL_SIZE)


def made(host: SimulatedHost, count: int) -> list[int]:
    """Return that many blocks, with those of a slab side by side; no slab is open afterward."""
    assert load(host.main + at.CONTEXT_FREE + 8 * CLASS) == 0
    blocks = [cells.take_block(host.main, CLASS * at.CELL_SIZE) for _ in range(count)]
    cells.leave_slab(host.main, CLASS)
    return blocks


@pytest.mark.parametrize("kept", [1, 2, 3])
@explored
def test_no_batch_is_lost_and_none_has_two_owners(world: World, kept: int) -> None:
    host = SimulatedHost(world)
    blocks = made(host, kept + 1)
    for block in blocks[:kept]:
        give_batch(host, [block])
    taken: list[int] = []

    def give_and_take() -> None:
        give_batch(host, blocks[kept:])
        taken.extend(take_batch(host))

    world.thread(lambda: taken.extend(take_batch(host)))
    world.thread(give_and_take)

    def check() -> None:
        there = [*taken, *left_in(host)]
        assert sorted(there) == sorted(blocks)
        give_back(host, there)

    world.finally_assert(check)


@explored
def test_a_slab_goes_when_all_its_blocks_are_free_and_not_before(world: World) -> None:
    host = SimulatedHost(world)
    blocks = made(host, 3 * BLOCKS)
    # Each batch has blocks of two slabs; one block is still in use.
    used, *free = blocks
    give_batch(host, free[0::2])
    give_batch(host, free[1::2])
    taken: list[int] = []
    found: list[int] = []

    world.thread(lambda: found.append(trimming.trim(host.process, 0)))
    world.thread(lambda: taken.extend(take_batch(host)))

    def check() -> None:
        there = [used, *taken, *left_in(host)]
        gone = 3 - len({block & -at.SLAB_SIZE for block in there})
        assert gone == sum(found)
        assert len(set(there)) == len(there) == len(blocks) - gone * BLOCKS
        if not taken:
            assert gone == 2
        give_back(host, there)

    world.finally_assert(check)


def test_what_a_trim_leaves_is_whole_batches() -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world)
        blocks = made(host, 8 * BLOCKS)
        for block in blocks[0::BLOCKS]:  # half of each slab
            give_batch(host, [block])
        assert trimming.trim(host.process, 0) == 0
        batches = [take_batch(host) for _ in range(5)]
        assert [len(batch) for batch in batches] == [BLOCKS, BLOCKS, BLOCKS, BLOCKS, 0]
        give_back(host, [*blocks[1::BLOCKS], *(block for batch in batches for block in batch)])

    explore(scenario)


def test_a_thread_that_sleeps_lets_no_slab_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at, "KEPT_AT_REST", 0)

    def scenario(world: World) -> None:
        host = SimulatedHost(world)
        blocks = made(host, 2 * BLOCKS)
        give_back(host, blocks[0::2])  # now in this thread's lists: half of each slab
        found: list[int] = []

        world.thread(lambda: trimming.give_if_much(host.main))
        world.thread(lambda: found.append(trimming.trim_class(host.process, CLASS)))

        def check() -> None:
            there = left_in(host)
            assert (found, sorted(there)) == ([0], blocks[0::2])
            give_back(host, [*there, *blocks[1::2]])
            trimming.give_all(host.main)
            assert trimming.trim_class(host.process, CLASS) == 2

        world.finally_assert(check)

    assert explore(scenario).complete


def test_a_slab_that_a_thread_left_has_one_owner_and_goes_when_it_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "CARVED_AT_ONCE", 1)

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1)
        first = cells.take_block(host.main, CLASS * at.CELL_SIZE)
        give_back(host, [first])
        # A slab whose only block is free, and which has room for another block.
        trimming.give_all(host.main)
        found: list[int] = []
        taken: list[int] = []

        def cut(context: int) -> None:
            # as if a thread found no free block
            taken.append(cells.carve(context, CLASS))
            cells.leave_slab(context, CLASS)

        world.thread(lambda: cut(host.main))
        world.thread(lambda: cut(host.contexts[0]))
        world.thread(lambda: found.append(trimming.trim_class(host.process, CLASS)))

        def check() -> None:
            free = left_in(host)
            assert len({*free, *taken}) == len(free) + 2
            assert free == [] if found == [1] else free == [first]
            give_back(host, [*free, *taken])
            slabs = {block & -at.SLAB_SIZE for block in [*free, *taken]}
            trimming.give_all(host.main)
            assert trimming.trim_class(host.process, CLASS) == len(slabs)

        world.finally_assert(check)

    assert explore(scenario).complete


def test_the_next_thread_goes_on_with_a_slab_that_one_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "CARVED_AT_ONCE", 1)

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=BLOCKS)
        before = load(host.process + at.PROCESS_HELD)
        blocks = []
        for context in host.contexts:
            blocks.append(cells.take_block(context, CLASS * at.CELL_SIZE))
            trimming.give_all(context)
        assert load(host.process + at.PROCESS_HELD) - before == at.SLAB_SIZE
        give_back(host, blocks)

    explore(scenario)


def test_a_thread_that_sleeps_keeps_few_free_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at, "IDLE_CELLS", CLASS * 2)
    monkeypatch.setattr(at, "BATCH_CELLS", CLASS * 100)

    def scenario(world: World) -> None:
        host = SimulatedHost(world)
        blocks = made(host, 2 * BLOCKS)
        give_back(host, blocks[:1])
        trimming.give_if_much(host.main)
        assert left_in(host) == []
        give_back(host, blocks[1:3])
        trimming.give_if_much(host.main)
        there = left_in(host)
        assert sorted(there) == sorted(blocks[:3])
        give_back(host, [*there, *blocks[3:]])

    explore(scenario)


def test_after_a_trim_that_leaves_much_there_is_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at, "KEPT_AT_REST", 0)

    def scenario(world: World) -> None:
        host = SimulatedHost(world)
        blocks = made(host, 2 * BLOCKS)
        give_back(host, blocks[0::2])
        trimming.trim_at_rest(host.main)
        before = load(host.process + at.PROCESS_HELD)
        give_back(host, blocks[1::2])
        trimming.trim_at_rest(host.main)
        assert load(host.process + at.PROCESS_HELD) == before
        while now() < load(host.process + at.PROCESS_TRIM_NEXT):
            pass
        trimming.trim_at_rest(host.main)
        assert load(host.process + at.PROCESS_HELD) == before - 2 * at.SLAB_SIZE

    explore(scenario)
