"""Test buffers of compiled code: each is freed once, and a stale handle is dead."""

from __future__ import annotations

from tests.exploring.explorer import World, explored
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.coroutines.async_buffers import (
    CHUNK,
    LAST_GENERATION,
    block_of,
    free_block,
    free_frame_buffers,
    free_kept,
    keep_buffer,
    new_buffer,
    new_frame_buffer,
)
from tfrt_runtime.native.memory import load, load_acquire, store, store_release

SIZE = CHUNK
"""The size of buffers that are one chunk each."""


class Buffers:
    """Two threads' contexts, and the state of buffers that all threads share."""

    def __init__(self, world: World, limit: int = 100 * SIZE) -> None:
        self.world = world
        self.host = SimulatedHost(world, outside=2)
        self.shared = self.host.block(at.BUFFERS_SIZE, "buffers", "BUFFERS_")
        self._made: list[int] = []
        world.finally_assert(self._free_all)
        self._held = load_acquire(self.host.process + at.PROCESS_HELD)
        store(self.host.process + at.PROCESS_MEMORY_LIMIT, self._held + limit)
        store(self.shared + at.BUFFERS_DEAD, 1)
        store(self.host.process + at.PROCESS_BUFFERS, self.shared)

    def made(self, context: int) -> int:
        """Return the handle of a new buffer; blocks are never released."""
        handle = new_buffer(context, SIZE)
        self.world.keep(block_of(handle))
        self._made.append(handle)
        return handle

    def _free_all(self) -> None:
        """Free the buffers that a scenario leaves."""
        for handle in self._made:
            free_block(self.host.main, handle, 0)

    @property
    def live(self) -> int:
        """The number of bytes in use."""
        return load_acquire(self.host.process + at.PROCESS_HELD) - self._held


def is_live(handle: int) -> bool:
    """Check what compiled code checks with two instructions."""
    return load_acquire(block_of(handle) + at.BLOCK_GENERATION) == handle >> at.HANDLE_SHIFT


def check(is_right: bool) -> None:
    assert is_right


@explored
def test_of_two_that_give_a_buffer_back_one_may(world: World) -> None:
    buffers = Buffers(world)
    handle = buffers.made(buffers.host.main)
    answers: list[int] = []
    for context in buffers.host.outside:
        world.thread(lambda c=context: answers.append(free_block(c, handle, 0)))
    world.finally_assert(lambda: check(sorted(answers) == [0, 1]))
    world.finally_assert(lambda: check(is_live(handle) == 0 and buffers.live == 0))


@explored
def test_a_buffer_is_given_back_by_the_code_or_kept_by_python(world: World) -> None:
    buffers = Buffers(world)
    handle = buffers.made(buffers.host.main)
    answers: dict[str, int] = {}
    first, second = buffers.host.outside
    world.thread(lambda: answers.update(freed=free_block(first, handle, 0)))
    world.thread(lambda: answers.update(kept=keep_buffer(second, handle)))

    def one_has_it() -> None:
        check(answers["freed"] + answers["kept"] == 1)
        check(is_live(handle) == answers["kept"])
        check(free_kept(first, handle) == answers["kept"])

    world.finally_assert(one_has_it)


@explored
def test_two_threads_never_have_the_same_buffer(world: World) -> None:
    buffers = Buffers(world)
    main = buffers.host.main
    for handle in [buffers.made(main), buffers.made(main)]:
        free_block(main, handle, 0)
    given: list[int] = []

    def gives_and_takes(context: int) -> None:
        handle = buffers.made(context)
        check(free_block(context, handle, 0) == 1)
        given.append(buffers.made(context))

    def takes(context: int) -> None:
        given.append(buffers.made(context))
        check(is_live(given[-1]) == 1)

    first, second = buffers.host.outside
    world.thread(lambda: gives_and_takes(first))
    world.thread(lambda: takes(second))
    world.finally_assert(lambda: check(len({block_of(handle) for handle in given}) == 2))
    world.finally_assert(lambda: check(all(is_live(handle) for handle in given)))


@explored
def test_what_two_threads_give_back_is_used_again(world: World) -> None:
    buffers = Buffers(world)
    main = buffers.host.main
    blocks = set()
    for context, handle in [(c, buffers.made(main)) for c in buffers.host.outside]:
        blocks.add(block_of(handle))
        world.thread(lambda c=context, h=handle: check(free_block(c, h, 0) == 1))
    again = lambda: {block_of(buffers.made(main)) for _ in blocks}
    world.finally_assert(lambda: check(again() == blocks))


@explored
def test_a_stale_handle_is_dead_while_others_have_the_block(world: World) -> None:
    buffers = Buffers(world)
    stale = buffers.made(buffers.host.main)
    free_block(buffers.host.main, stale, 0)
    answers: list[int] = []

    def uses() -> None:
        handle = buffers.made(buffers.host.outside[0])
        check(is_live(handle) == 1)
        check(free_block(buffers.host.outside[0], handle, 0) == 1)

    def misuses() -> None:
        answers.append(is_live(stale))
        answers.append(free_block(buffers.host.outside[1], stale, 0))

    world.thread(uses)
    world.thread(misuses)
    world.finally_assert(lambda: check(answers == [0, 0] and buffers.live == 0))


@explored
def test_of_two_buffers_for_which_there_is_no_room_together_one_is_made(world: World) -> None:
    buffers = Buffers(world, limit=2 * SIZE)
    given: list[int] = []
    for context in buffers.host.outside:
        world.thread(lambda c=context: given.append(is_live(buffers.made(c))))
    world.finally_assert(lambda: check(sum(given) == 1))
    world.finally_assert(lambda: check(buffers.live <= 2 * SIZE))


@explored
def test_a_block_is_used_no_more_after_its_last_generation(world: World) -> None:
    buffers = Buffers(world)
    main = buffers.host.main
    block = block_of(buffers.made(main))
    store_release(block + at.BLOCK_GENERATION, LAST_GENERATION)
    store_release(block + at.BLOCK_OWNER, 2 * LAST_GENERATION)
    last = block | LAST_GENERATION << at.HANDLE_SHIFT
    check(is_live(last) == 1)
    check(free_block(main, last, 0) == 1)
    check(is_live(last) == 0)
    check(block_of(buffers.made(main)) != block)


@explored
def test_what_has_no_block_is_live_or_dead_for_ever(world: World) -> None:
    buffers = Buffers(world)
    main = buffers.host.main
    static, dead = buffers.shared + at.BUFFERS_STATIC, buffers.shared + at.BUFFERS_DEAD
    for handle, expected in [(static, 1), (static | at.HANDLE_CONSTANT, 1), (dead, 0)]:
        check(is_live(handle) == expected)
        check(free_block(main, handle, 0) == keep_buffer(main, handle) == 0)
        check(is_live(handle) == expected)
    check(new_buffer(main, 1 << 60) == dead)
    check(new_buffer(main, 200 * SIZE) == dead)
    check(buffers.live == 0)


@explored
def test_buffers_of_a_function_end_with_it_and_not_before(world: World) -> None:
    buffers = Buffers(world)
    main = buffers.host.main
    first = new_frame_buffer(main, SIZE, 0)
    second = new_frame_buffer(main, SIZE, first)
    for handle in (first, second):
        world.keep(block_of(handle))
        check(free_block(main, handle, 0) == 0)
    free_frame_buffers(main, second)
    check(is_live(first) == is_live(second) == 0)
    check(buffers.live == 0)


@explored
def test_a_buffer_holds_zeros_whatever_its_block_held_before(world: World) -> None:
    buffers = Buffers(world)
    first, second = buffers.host.outside
    handle = buffers.made(first)
    store(block_of(handle) + at.BLOCK_ELEMENTS + 8, 7)
    free_block(first, handle, 0)

    def takes() -> None:
        check(load(block_of(buffers.made(second)) + at.BLOCK_ELEMENTS + 8) == 0)

    world.thread(takes)
    world.thread(lambda: free_block(first, buffers.made(first), 0))
