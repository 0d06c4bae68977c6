"""Test the smallest scenes in which operations of compiled code meet, in all interleavings.

Each scene has two threads: one resolves, and the other one adds to a group, awaits, asks, or
resolves early.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.exploring.explorer import World, explore, explored
from tests.exploring.simulated_coroutines import Scene
from tests.exploring.simulated_host import name_cell

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_optional, new_value, resolve, set_error, state_of
from tfrt_runtime.native.coroutines import async_abi, async_interrupts, async_objects
from tfrt_runtime.native.memory import load, load_acquire, store, store_release, thread_context


@dataclass
class Member:
    """A token or a value of a scene, and how it is resolved."""

    is_value: bool
    fails: bool

    def make(self) -> int:
        return async_abi.create_value(8) if self.is_value else async_abi.create_token()

    def resolve(self, address: int) -> None:
        (async_abi.set_error if self.fails else async_abi.emplace_object)(address)

    @property
    def state(self) -> int:
        return at.ERROR if self.fails else at.CONCRETE


class MemberScene(Scene):
    """A member, a group for one, and two threads."""

    def __init__(self, world: World, member: Member) -> None:
        super().__init__(world, 2)
        self.kind = member
        self.member = name_cell(world, self.main(member.make), "member")
        self.members = self.group(1)

    def resolves(self) -> None:
        """Resolve the member on one thread."""
        self.thread(lambda: self.kind.resolve(self.member), "producer")


MEMBERS = {
    "a token": Member(is_value=False, fails=False),
    "a token that fails": Member(is_value=False, fails=True),
    "a value": Member(is_value=True, fails=False),
    "a value that fails": Member(is_value=True, fails=True),
}


@pytest.fixture(params=MEMBERS, name="member")
def _member(request: pytest.FixtureRequest) -> Member:
    return MEMBERS[request.param]


@explored
def test_a_member_that_is_added_while_it_is_resolved_counts_once(
    world: World, member: Member
) -> None:
    scene = MemberScene(world, member)
    scene.resolves()
    scene.thread(lambda: async_abi.add_to_group(scene.member, scene.members), "who adds")

    def check() -> None:
        assert state_of(scene.members) == member.state
        scene.drop(scene.member, scene.members)

    world.finally_assert(check)


@explored
def test_a_coroutine_that_need_not_suspend_sees_what_it_has_awaited(world: World) -> None:
    scene = MemberScene(world, MEMBERS["a value"])
    seen: list[int] = []

    def produce() -> None:
        store(async_abi.get_value_storage(scene.member), 42)
        async_abi.emplace_object(scene.member)

    def consume() -> None:
        if async_abi.goes_on(scene.member) == 0:
            async_abi.await_and_execute(scene.member, 7, scene.coroutines.resume)
        else:
            seen.append(load(async_abi.get_value_storage(scene.member)))

    scene.thread(produce, "producer")
    scene.thread(consume, "who awaits")

    def check() -> None:
        assert (seen, scene.finish()) in (([42], []), ([], [7]))
        scene.drop(scene.member, scene.members)

    world.finally_assert(check)


@explored
def test_who_awaits_a_group_while_its_member_is_resolved_goes_on_once(
    world: World, member: Member
) -> None:
    scene = MemberScene(world, member)
    scene.main(lambda: async_abi.add_to_group(scene.member, scene.members))
    scene.drop(scene.member)
    scene.resolves()
    scene.thread(
        lambda: async_abi.await_and_execute(scene.members, 7, scene.coroutines.resume),
        "who awaits",
    )

    def check() -> None:
        assert scene.finish() == [7]
        assert state_of(scene.members) == member.state
        scene.drop(scene.members)

    world.finally_assert(check)


@explored
def test_who_adds_awaits_and_drops_races_with_the_producer_without_harm(
    world: World, member: Member
) -> None:
    scene = MemberScene(world, member)
    scene.resolves()

    def add_await_and_drop() -> None:
        async_abi.add_to_group(scene.member, scene.members)
        async_abi.drop_ref(scene.member, 1)
        async_abi.await_and_execute(scene.members, 7, scene.coroutines.resume)
        async_abi.drop_ref(scene.members, 1)

    scene.thread(add_await_and_drop, "who awaits")
    world.finally_assert(lambda: scene.finish() == [7])


@explored
def test_a_member_is_awaited_alone_and_in_its_group(world: World, member: Member) -> None:
    scene = MemberScene(world, member)
    scene.main(lambda: async_abi.add_to_group(scene.member, scene.members))
    scene.resolves()

    def await_and_drop() -> None:
        async_abi.await_and_execute(scene.member, 7, scene.coroutines.resume)
        async_abi.drop_ref(scene.member, 1)

    scene.thread(await_and_drop, "who awaits")

    def check() -> None:
        assert scene.finish() == [7]
        assert state_of(scene.members) == member.state
        scene.drop(scene.members)

    world.finally_assert(check)


@explored
def test_who_is_told_of_no_error_finds_none_later_if_it_was_resolved(
    world: World, member: Member
) -> None:
    scene = MemberScene(world, member)
    seen: list[tuple[int, bool]] = []
    scene.resolves()

    def look() -> None:
        is_resolved = state_of(scene.member) >= at.CONCRETE
        seen.append((async_abi.is_error(scene.member), is_resolved))

    scene.thread(look, "who looks")

    def check() -> None:
        [(is_error, was_resolved)] = seen
        assert not was_resolved or is_error == int(member.fails)
        scene.drop(scene.member, scene.members)

    world.finally_assert(check)


@explored
def test_a_group_is_given_up_while_its_member_is_resolved(world: World, member: Member) -> None:
    scene = MemberScene(world, member)
    scene.main(lambda: async_abi.add_to_group(scene.member, scene.members))
    scene.drop(scene.member)
    failure = scene.host.error(99)
    scene.resolves()
    giver = scene.host.outside[1]
    scene.thread(lambda: async_objects.async_abandon(giver, scene.members, failure), "abandons")

    def check() -> None:
        assert state_of(scene.members) in (member.state, at.ERROR)
        scene.drop(scene.members)

    world.finally_assert(check)


@explored
def test_a_payload_that_is_stored_while_its_value_is_given_up_is_never_taken_for_the_error(
    world: World,
) -> None:
    scene = MemberScene(world, MEMBERS["a value"])
    failure = scene.host.error(99)
    giver = scene.host.outside[1]

    def fill() -> None:
        store(async_abi.get_value_storage(scene.member), 42)
        async_abi.emplace_object(scene.member)

    scene.thread(fill, "producer")
    scene.thread(lambda: async_objects.async_abandon(giver, scene.member, failure), "abandons")

    def check() -> None:
        if state_of(scene.member) == at.ERROR:
            assert resolve(scene.member) == failure
        else:
            assert scene.main(lambda: load(async_abi.get_value_storage(scene.member))) == 42
        scene.drop(scene.member, scene.members)
        assert scene.host.released == [99]

    world.finally_assert(check)


@explored
def test_a_producer_may_note_its_error_while_its_value_is_given_up(world: World) -> None:
    scene = MemberScene(world, MEMBERS["a value"])
    failure = scene.host.error(99)
    giver = scene.host.outside[1]

    def fail() -> None:
        async_abi.describe_error(scene.member, 0)
        async_abi.set_error(scene.member)

    scene.thread(fail, "producer")
    scene.thread(lambda: async_objects.async_abandon(giver, scene.member, failure), "abandons")

    def check() -> None:
        assert state_of(resolve(scene.member)) == at.ERROR
        scene.drop(scene.member, scene.members)
        assert sorted(scene.host.released) == [1, 99]

    world.finally_assert(check)


@pytest.mark.parametrize("emplaced", [True, False])
@explored
def test_a_late_failure_leaves_an_available_token_as_it_is(world: World, emplaced: bool) -> None:
    scene = MemberScene(world, MEMBERS["a token"])
    failure = scene.host.error(99)
    giver = scene.host.outside[1]
    scene.main(
        lambda: async_abi.add_ref(scene.member, 1)
    )  # the function's reference, until it ends

    def fail() -> None:
        if emplaced:
            async_abi.emplace_object(scene.member)
        async_abi.describe_error(scene.member, 0)
        async_abi.set_error_unless_available(scene.member)
        async_abi.drop_ref(scene.member, 1)

    scene.thread(fail, "a function that fails")
    if emplaced:
        scene.thread(lambda: async_abi.drop_ref(scene.member, 1), "its caller")
    else:
        scene.thread(lambda: async_objects.async_abandon(giver, scene.member, failure), "abandons")

    def check() -> None:
        if emplaced:
            drop_optional(giver, failure)
            scene.drop(scene.members)
        else:
            assert state_of(resolve(scene.member)) == at.ERROR
            scene.drop(scene.member, scene.members)
        assert sorted(scene.host.released) == [1, 99]

    world.finally_assert(check)


def cancelled_run(scene: MemberScene) -> tuple[int, int]:
    """Create a table with room for one cancelled run, and the `STOP_*` words for it."""
    table, stop = scene.host.block(8 + 2 * 16, "table"), scene.host.block(at.STOP_SIZE, "stop")
    for place in range(0, at.STOP_SIZE, 8):
        store(stop + place, 0)
    store(stop + at.STOP_ERROR, made_error(scene.host.main, 99))
    store(table, 2)
    for place in range(8, 8 + 2 * 16, 8):
        store(table + place, 0)
    store(scene.host.process + at.PROCESS_CANCELLED_RUNS, table)
    return table, stop


def forget_failure(context: int) -> None:
    drop_optional(context, load_acquire(context + at.CONTEXT_FAILURE))
    store_release(context + at.CONTEXT_FAILURE, 0)


@pytest.mark.parametrize("whole_host", [True, False])
@explored
def test_a_task_that_starts_while_the_run_is_cancelled_runs_or_knows_why_not(
    world: World, whole_host: bool
) -> None:
    scene = MemberScene(world, MEMBERS["a token"])
    process, task = scene.host.process, scene.host.outside[0]
    table, stop = cancelled_run(scene)
    failure = load_acquire(stop + at.STOP_ERROR)
    store(task + at.CONTEXT_RUN, RUN)

    def start() -> None:
        if async_interrupts.is_cancelled():
            async_abi.take_failure(scene.member)
            async_abi.set_error(scene.member)
        else:
            async_abi.emplace_object(scene.member)

    def cancel() -> None:
        if whole_host:
            store_release(scene.coroutines.shared + at.ASYNC_CANCELLED, failure)
        else:
            store_release(table + 32, stop)
            store_release(table + 24, RUN)
        store_release(process + at.PROCESS_INTERRUPTS, at.INTERRUPT_CANCELLED)

    scene.thread(start, "task")
    scene.thread(cancel, "who cancels")

    def check() -> None:
        assert state_of(scene.member) in (at.CONCRETE, at.ERROR)
        if state_of(scene.member) == at.ERROR:
            assert resolve(scene.member) == failure
        drop_optional(task, load_failure(scene))
        scene.drop(scene.member, scene.members)
        assert scene.host.released == []
        drop_optional(task, failure)
        assert scene.host.released == [99]

    world.finally_assert(check)


@explored
def test_all_that_end_at_a_place_share_an_error(world: World) -> None:
    scene = MemberScene(world, MEMBERS["a token"])
    made: list[int] = []
    failures: list[int] = []
    scene.main(lambda: scene.kind.resolve(scene.member))

    def answer(context: int, _record: int) -> int:
        made.append(100 + len(made))
        return made_error(context, made[-1])

    scene.coroutines.answers[at.EVENT_INTERRUPTED] = answer
    table, stop = cancelled_run(scene)
    store(table + 16, stop)
    store(table + 8, RUN)
    store(scene.host.process + at.PROCESS_INTERRUPTS, at.INTERRUPT_CANCELLED)
    record = scene.host.block(48, "record")

    def loop(times: int) -> None:
        context = thread_context()
        store(context + at.CONTEXT_RUN, RUN)
        for _ in range(times):
            forget_failure(context)
            assert async_interrupts.is_interrupted(record) == 1
            failures.append(load(context + at.CONTEXT_FAILURE))

    scene.thread(lambda: loop(1), "one loop")
    scene.thread(lambda: loop(2), "loops in two tasks")

    def check() -> None:
        for context in scene.host.outside:
            forget_failure(context)
        # There are two if both threads came before an error was stored; no thread asks twice.
        assert len(set(failures)) == len(made) <= 2
        assert load(stop + at.STOP_PLACES) == record
        assert load(stop + at.STOP_PLACES + 8) in failures
        drop_optional(scene.host.main, load(stop + at.STOP_PLACES + 8))
        drop_optional(scene.host.main, load(stop + at.STOP_ERROR))
        scene.drop(scene.member, scene.members)
        assert sorted(scene.host.released) == sorted([99, *made])

    world.finally_assert(check)


def test_only_the_tasks_of_a_cancelled_run_do_not_start() -> None:
    def scenario(world: World) -> None:
        scene = MemberScene(world, MEMBERS["a token"])
        table, stop = cancelled_run(scene)
        store(table + 16, stop)
        store(table + 8, RUN)
        store(scene.host.process + at.PROCESS_INTERRUPTS, at.INTERRUPT_CANCELLED)
        started: list[tuple[int, int]] = []
        scene.coroutines.when_resumed = lambda handle: started.append(
            (handle, async_interrupts.is_cancelled())
        )

        def awaits(run: int) -> None:
            """Make the run's code leave a coroutine at the member; its number is the run's."""
            store(thread_context() + at.CONTEXT_RUN, run)
            async_abi.await_and_execute(scene.member, run, scene.coroutines.resume)
            store(thread_context() + at.CONTEXT_RUN, 0)

        scene.thread(lambda: (awaits(RUN), awaits(OTHER_RUN)), "who awaits")
        scene.resolves()

        def check() -> None:
            scene.coroutines.run_tasks(scene.host.main)
            scene.coroutines.run_tasks(scene.host.outside[0])
            scene.coroutines.run_tasks(scene.host.outside[1])
            assert sorted(started) == sorted([(RUN, 1), (OTHER_RUN, 0)])
            for context in scene.host.outside:
                forget_failure(context)
            drop_optional(scene.host.main, load(stop + at.STOP_ERROR))
            scene.drop(scene.member, scene.members)

        world.finally_assert(check)

    assert explore(scenario).complete


RUN, OTHER_RUN = 41, 42


def made_error(context: int, handle: int) -> int:
    """Create an error value with one reference."""
    value = new_value(context, 0)
    set_error(value, handle, at.TYPE_ERROR)
    return value


def load_failure(scene: MemberScene) -> int:
    """Take the error that the task has recorded for its thread, which would drop it on exit."""
    place = scene.host.outside[0] + at.CONTEXT_FAILURE
    failure = load_acquire(place)
    store_release(place, 0)
    return failure


@pytest.mark.parametrize("alignment", [16, 64])
@explored
def test_a_frame_is_given_back_by_another_thread(world: World, alignment: int) -> None:
    scene = MemberScene(world, MEMBERS["a token"])
    frame = scene.main(lambda: async_abi.allocate_frame(100, alignment))
    assert frame % alignment == 0
    other = scene.main(lambda: async_abi.allocate_frame(100, alignment))
    for address in (frame, other):
        scene.thread(
            lambda address=address: async_abi.free_frame(address, 100, alignment), "who frees"
        )

    def check() -> None:
        scene.main(lambda: async_abi.emplace_object(scene.member))
        scene.drop(scene.member, scene.members)

    world.finally_assert(check)
