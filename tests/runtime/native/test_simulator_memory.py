"""Test the simulated memory: lifetimes, bytes, calls, and the way from `memory` to the world."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import World, replay
from tests.simulator.failures import (
    BadCall,
    DoubleFree,
    Leak,
    Misaligned,
    OutOfBounds,
    SimulationError,
    UninitializedRead,
    UseAfterFree,
)

from tfrt_runtime.native import memory


def run(body: Callable[[World], object]) -> object:
    """Return the result of `body`, run alone in a world."""
    seen: list[object] = []
    replay(lambda world: seen.append(body(world)))
    return seen[0]


def block(world: World, size: int = 16) -> int:
    return world.keep(world.label(memory.allocate(size), "block", {8: "FIELD"}))


def test_without_a_world_native_code_cannot_touch_memory() -> None:
    with pytest.raises(RuntimeError, match="without a simulated world"):
        memory.load(4096)


def test_words_are_two_s_complement_of_64_bits() -> None:
    def body(world: World) -> list[int]:
        address = block(world)
        memory.store(address, 2**63)
        memory.store(address + 8, -1)
        memory.fetch_add(address + 8, 2**64)
        return [memory.load(address), memory.load_acquire(address + 8)]

    assert run(body) == [-(2**63), -1]


def test_updates_return_the_old_value() -> None:
    def body(world: World) -> list[int]:
        address = block(world)
        memory.store(address, 1)
        return [
            memory.fetch_add(address, 4),
            memory.exchange(address, 7),
            memory.compare_and_swap(address, 6, 8),
            memory.compare_and_swap(address, 7, 9),
            memory.load(address),
        ]

    assert run(body) == [1, 5, 0, 1, 9]


def test_parts_of_a_word_are_little_endian_and_wrap() -> None:
    def body(world: World) -> list[int]:
        address = block(world)
        memory.store(address, 0)
        memory.store_i32(address, 2**32 - 2)
        memory.store_i32(address + 4, 0xFF000001)
        return [memory.load_i32(address), memory.load_i32(address + 4), memory.load(address)]

    assert run(body) == [-2, 0xFF000001 - 2**32, (0xFF000001 << 32 | 0xFFFFFFFE) - 2**64]


def test_floats_are_rounded_to_the_size_of_the_store() -> None:
    def body(world: World) -> list[float]:
        address = block(world)
        memory.store_f32(address, 0.1)
        memory.store_f64(address + 8, 0.1)
        narrow, wide = memory.load_f32(address), memory.load_f64(address + 8)
        memory.store_f32(address, -1e300)
        return [narrow, wide, memory.load_f32(address), float(memory.load(address + 8))]

    bits_of_a_tenth = float(0x3FB999999999999A)
    assert run(body) == [0.10000000149011612, 0.1, float("-inf"), bits_of_a_tenth]


def test_copy_and_clear_move_whole_words() -> None:
    def body(world: World) -> list[int]:
        source, target = block(world), block(world)
        memory.store(source, 3)
        memory.store(source + 8, 4)
        memory.copy(target, source, 16)
        memory.clear(source, 8)
        return [memory.load(a) for a in (source, source + 8, target, target + 8)]

    assert run(body) == [0, 4, 3, 4]


def test_functions_are_called_through_addresses() -> None:
    def body(world: World) -> list[int]:
        twice = world.function(lambda a: 2 * a)
        add = world.function(lambda a, b: a + b)
        none = world.function(lambda a, b, c: None)
        return [memory.call1(twice, 4), memory.call2(add, 1, 2), memory.call3(none, 1, 2, 3)]

    assert run(body) == [8, 3, 0]


def test_the_clock_goes_on() -> None:
    assert run(lambda _: memory.now() < memory.now()) is True


def released(world: World) -> int:
    address = world.label(memory.allocate(16), "block", {8: "FIELD"})
    memory.store(address + 8, 1)
    memory.release(address)
    return address


@pytest.mark.parametrize(
    ("body", "failure", "message"),
    [
        (lambda w: memory.load(released(w) + 8), UseAfterFree, "access to block.FIELD"),
        (lambda w: memory.fetch_add(released(w) + 8, 1), UseAfterFree, "the scenario has released"),
        (lambda w: memory.release(released(w)), DoubleFree, "releases block, which the scenario"),
        (lambda w: memory.release(block(w) + 8), DoubleFree, "not a live allocation"),
        (lambda w: memory.load(block(w) + 16), OutOfBounds, r"0 bytes past the end of block \(16"),
        (lambda _: memory.load(64), OutOfBounds, "0x40, which belongs to no allocation"),
        (
            lambda w: memory.load(block(w) + 4),
            Misaligned,
            r"block\+4, which is not a multiple of 8",
        ),
        (lambda w: memory.load_i32(block(w) + 2), Misaligned, r"block\+2"),
        (lambda w: memory.load(block(w) + 8), UninitializedRead, "reads block.FIELD"),
        (lambda w: memory.load_acquire(block(w)), UninitializedRead, "reads block"),
        (lambda w: memory.call1(block(w), 0), BadCall, "call of block, which is not a function"),
        (lambda _: memory.allocate(8), Leak, "never released: lambda@0x10000"),
    ],
)
def test_what_memory_must_not_be_used_for_is_an_error(
    body: Callable[[World], object], failure: type[SimulationError], message: str
) -> None:
    with pytest.raises(failure, match=message):
        run(body)


def test_a_word_that_was_written_in_part_is_not_defined_as_a_whole() -> None:
    def body(world: World) -> int:
        address = block(world)
        memory.store_i32(address, 1)
        memory.copy(address + 8, address, 8)
        assert memory.load_i32(address + 8) == 1
        return memory.load(address + 8)

    with pytest.raises(UninitializedRead, match="block.FIELD"):
        run(body)


def test_a_world_ends_with_its_run() -> None:
    replay(lambda _: None)
    with pytest.raises(RuntimeError, match="without a simulated world"):
        memory.now()
