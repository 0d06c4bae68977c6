"""Buffers of compiled code: in every interleaving each is given back once."""

from __future__ import annotations

import pytest

from tfrt_runtime.native.async_buffers import TABLE_SIZE, note_buffer, take_buffer
from tfrt_runtime.native.layouts import PROCESS_BUFFERS
from tfrt_runtime.native.memory import store
from tfrt_runtime.testing.explorer import World, explore
from tfrt_runtime.testing.simulated_host import SimulatedHost

BUFFER = 1 << 20
NEXT_IN_BUCKET = BUFFER ^ 1 << 6 ^ 1 << 16
"""Two buffers that are in the same list."""


def host_with_table(world: World) -> SimulatedHost:
    host = SimulatedHost(world, outside=2)
    store(host.process + PROCESS_BUFFERS, host.block(TABLE_SIZE, "buffers"))
    return host


def test_of_two_that_give_a_buffer_back_one_may() -> None:
    def scenario(world: World) -> None:
        host = host_with_table(world)
        note_buffer(host.main, NEXT_IN_BUCKET)
        note_buffer(host.main, BUFFER)
        answers: list[int] = []
        for context in host.outside:
            world.thread(lambda c=context: answers.append(take_buffer(c, BUFFER)))
        world.finally_assert(lambda: check(sorted(answers) == [0, 1]))
        world.finally_assert(lambda: check(take_buffer(host.main, NEXT_IN_BUCKET) == 1))

    assert explore(scenario).complete


@pytest.mark.parametrize("other", [BUFFER + 64, NEXT_IN_BUCKET])
def test_others_come_and_go_meanwhile(other: int) -> None:
    def scenario(world: World) -> None:
        host = host_with_table(world)
        note_buffer(host.main, BUFFER)
        answers: list[int] = []

        def comes_and_goes() -> None:
            note_buffer(host.outside[0], other)
            answers.append(take_buffer(host.outside[0], other))

        world.thread(comes_and_goes)
        world.thread(lambda: answers.append(take_buffer(host.outside[1], BUFFER)))
        world.finally_assert(lambda: check(answers == [1, 1]))
        world.finally_assert(lambda: check(take_buffer(host.main, BUFFER) == 0))

    assert explore(scenario).complete


def check(is_right: bool) -> None:
    assert is_right
