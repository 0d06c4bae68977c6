"""Test small scenes with compiled coroutines' tokens, values, and groups, in all interleavings."""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explore, explore_at_random, explored
from tests.exploring.simulated_coroutines import Scene
from tests.simulator.failures import SimulationError

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import state_of
from tfrt_runtime.native.coroutines import async_abi, async_groups, async_objects
from tfrt_runtime.native.memory import load_acquire, store, store_release
from tfrt_runtime.native.queues.tasks import advance_epoch


@pytest.mark.parametrize("waiters", [1, 2])
def test_each_coroutine_that_awaits_a_token_is_resumed_once(waiters: int) -> None:
    def scenario(world: World) -> None:
        scene = Scene(world, 1 + waiters)
        token = scene.token()
        resume = scene.coroutines.resume
        scene.thread(lambda: async_abi.emplace_object(token), "producer")
        for handle in range(waiters):
            scene.thread(lambda handle=handle: async_abi.await_and_execute(token, handle, resume))

        def check() -> None:
            assert scene.finish() == list(range(waiters))
            scene.drop(token)

        world.finally_assert(check)

    assert explore(scenario, interleavings=3000).interleavings > 3


@explored
def test_the_last_of_several_references_destroys_a_token(world: World) -> None:
    scene = Scene(world, 3)
    token = scene.token()
    scene.main(lambda: async_abi.add_ref(token, 1))
    scene.thread(lambda: async_abi.emplace_object(token), "producer")
    scene.thread(lambda: async_abi.drop_ref(token, 1))
    scene.thread(lambda: async_abi.drop_ref(token, 1))


@explored
def test_who_awaits_and_drops_races_with_the_producer_without_harm(world: World) -> None:
    scene = Scene(world, 2)
    token = scene.token()
    resume = scene.coroutines.resume

    def await_and_drop() -> None:
        async_abi.await_and_execute(token, 7, resume)
        async_abi.drop_ref(token, 1)

    scene.thread(lambda: async_abi.emplace_object(token), "producer")
    scene.thread(await_and_drop)
    world.finally_assert(lambda: scene.finish() == [7])


class GroupScene:
    """Two members are added to a group, and resolved, while a coroutine awaits the group."""

    def __init__(self, *, failing: int, adds_late: bool) -> None:
        self.failing = failing
        self.adds_late = adds_late

    def __call__(self, world: World) -> None:
        scene = Scene(world, 3)
        group = scene.group(2)
        tokens = [scene.token(f"token {i}") for i in range(2)]
        first, second = tokens

        def add(token: int) -> None:
            async_abi.add_to_group(token, group)
            async_abi.drop_ref(token, 1)

        def produce(number: int) -> None:
            if number < self.failing:
                async_abi.set_error(tokens[number])
            else:
                async_abi.emplace_object(tokens[number])

        def wait() -> None:
            if self.adds_late:
                add(second)
            async_abi.await_and_execute(group, 7, scene.coroutines.resume)

        scene.main(lambda: add(first))
        if not self.adds_late:
            scene.main(lambda: add(second))
        for number in range(2):
            scene.thread(lambda number=number: produce(number), f"producer {number}")
        scene.thread(wait, "waiter")

        def check() -> None:
            assert scene.finish() == [7]
            assert scene.main(lambda: async_abi.is_group_error(group)) == int(self.failing > 0)
            assert state_of(group) == (at.ERROR if self.failing else at.CONCRETE)
            scene.drop(group)

        world.finally_assert(check)


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("adds_late", [False, True])
def test_a_group_resolves_once_after_its_last_member(failing: int, adds_late: bool) -> None:
    scene = GroupScene(failing=failing, adds_late=adds_late)
    explore(scene, interleavings=300)
    explore_at_random(scene, seed=failing, interleavings=150)


@explored
def test_a_group_that_nobody_wants_any_more_outlives_its_members(world: World) -> None:
    scene = Scene(world, 2)
    group = scene.group(1)
    token = scene.token()
    scene.main(lambda: async_abi.add_to_group(token, group))
    scene.drop(token)
    scene.drop(group)
    scene.thread(lambda: async_abi.emplace_object(token), "producer")
    scene.thread(
        lambda: async_objects.async_sweep(scene.host.outside[1], scene.coroutines.shared),
        "sweeper",
    )


def test_a_count_of_members_that_is_not_atomic_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fetch_add(address: int, number: int) -> int:
        old = load_acquire(address)
        store_release(address, old + number)
        return old

    monkeypatch.setattr(async_groups, "fetch_add", fetch_add)
    with pytest.raises(SimulationError):
        explore(GroupScene(failing=0, adds_late=False), interleavings=5000)


def test_of_a_producer_and_who_gives_up_one_resolves_a_token() -> None:
    def scenario(world: World) -> None:
        scene = Scene(world, 3)
        token = scene.token()
        failure = scene.host.error(99)
        giver = scene.host.outside[1]
        scene.thread(lambda: async_abi.emplace_object(token), "producer")
        scene.thread(lambda: async_objects.async_abandon(giver, token, failure), "abandons")
        scene.thread(
            lambda: async_abi.await_and_execute(token, 7, scene.coroutines.resume), "waiter"
        )

        def check() -> None:
            assert scene.finish() == [7]
            assert scene.coroutines.events == []
            scene.drop(token)
            assert scene.host.released == [99]

        world.finally_assert(check)

    assert explore(scenario, interleavings=5000).interleavings > 10


@explored
def test_a_drop_too_many_is_noticed_by_one_of_those_who_drop(world: World) -> None:
    scene = Scene(world, 2, checked=True)
    token = scene.token()
    scene.main(lambda: async_abi.emplace_object(token))
    for _ in range(2):
        scene.thread(lambda: async_abi.drop_ref(token, 1))
    world.finally_assert(lambda: scene.coroutines.events == [(at.EVENT_RELEASED_TOO_OFTEN, token)])


@explored
def test_of_two_producers_one_is_told_that_it_comes_too_late(world: World) -> None:
    scene = Scene(world, 2)
    token = scene.token()
    scene.thread(lambda: async_abi.emplace_object(token))
    scene.thread(lambda: async_abi.set_error(token))

    def check() -> None:
        assert scene.coroutines.events == [(at.EVENT_RESOLVED_TWICE, token)]
        scene.drop(token)

    world.finally_assert(check)


def test_a_thread_that_waits_sees_the_token_resolved() -> None:
    def scenario(world: World) -> None:
        scene = Scene(world, 2)
        token = scene.token()
        scene.thread(lambda: async_abi.emplace_object(token), "producer")
        scene.thread(lambda: async_abi.await_object(token), "who waits")
        world.finally_assert(lambda: scene.drop(token))

    explore(scenario, interleavings=1000)
    explore_at_random(scenario, seed=1, interleavings=300)


def test_a_thread_whose_token_is_resolved_is_not_at_rest_before_it_goes_on() -> None:
    """The check for quiescence reads the words that `host.waiting` reads, in the same order."""
    seen: set[bool] = set()

    def scenario(world: World) -> None:
        scene = Scene(world, 2)
        token = scene.token()
        waiter, producer = scene.host.outside
        resuming = scene.host.process + at.PROCESS_RESUMING
        has_gone_on = scene.host.block(8, "gone on")
        store(has_gone_on, 0)

        def wait() -> None:
            advance_epoch(waiter)
            async_abi.await_object(token)
            store_release(has_gone_on, 1)
            advance_epoch(waiter)

        def resolve_and_look() -> None:
            advance_epoch(producer)
            async_abi.emplace_object(token)
            advance_epoch(producer)
            before = load_acquire(waiter + at.CONTEXT_EPOCH)
            is_resuming = load_acquire(resuming) != 0
            is_at_rest = before % 2 == 0 and before == load_acquire(waiter + at.CONTEXT_EPOCH)
            if before > 0 and is_at_rest and not is_resuming:
                seen.add(load_acquire(has_gone_on) == 1)

        scene.thread(wait, "who waits")
        scene.thread(resolve_and_look, "producer")

        def check() -> None:
            assert load_acquire(resuming) == 0
            scene.drop(token)

        world.finally_assert(check)

    explore(scenario, interleavings=400)
    explore_at_random(scenario, seed=3, interleavings=100)
    assert seen == {True}


@explored
def test_a_thread_that_waits_runs_the_task_that_it_waits_for(world: World) -> None:
    scene = Scene(world, 1)
    token = scene.token()
    scene.coroutines.when_resumed = lambda _: async_abi.emplace_object(token)

    def spawn_and_wait() -> None:
        async_abi.execute(7, scene.coroutines.resume)
        async_abi.await_object(token)
        async_abi.drop_ref(token, 1)

    scene.thread(spawn_and_wait)
    world.finally_assert(lambda: scene.finish() == [7])


def test_two_threads_that_wait_run_a_task_once() -> None:
    def scenario(world: World) -> None:
        scene = Scene(world, 2)
        token = scene.token()
        scene.coroutines.when_resumed = lambda _: async_abi.emplace_object(token)

        def spawn_and_wait() -> None:
            async_abi.execute(7, scene.coroutines.resume)
            async_abi.await_object(token)

        scene.thread(spawn_and_wait)
        scene.thread(lambda: async_abi.await_object(token))

        def check() -> None:
            assert scene.finish() == [7]
            scene.drop(token)

        world.finally_assert(check)

    explore(scenario, interleavings=500)
    explore_at_random(scenario, seed=2, interleavings=300)


RECORD = 4711


@explored
def test_of_the_references_added_on_top_each_is_dropped_once(world: World) -> None:
    """One drop too many is reported, whichever comes last, and drops no other reference."""
    scene = Scene(world, 3)
    token = scene.token()
    scene.main(lambda: async_abi.add_ref_on_top(token, 1))
    scene.thread(lambda: async_abi.emplace_object(token), "producer")
    scene.thread(lambda: async_abi.drop_ref_on_top(token, 1, RECORD))
    scene.thread(lambda: async_abi.drop_ref_on_top(token, 1, RECORD))

    def check() -> None:
        assert scene.coroutines.events == [(at.EVENT_DROPPED_TOO_OFTEN, RECORD)]
        scene.drop(token)

    world.finally_assert(check)


@explored
def test_the_producers_reference_is_dropped_by_the_producer_or_by_hand(world: World) -> None:
    scene = Scene(world, 2)
    token = scene.token()
    scene.thread(lambda: async_abi.emplace_object(token), "producer")
    scene.thread(lambda: async_abi.drop_own_ref(token, 1, RECORD))

    def check() -> None:
        [event] = scene.coroutines.events
        assert event in (
            (at.EVENT_DROPPED_TOO_OFTEN, RECORD),
            (at.EVENT_RELEASED_TOO_OFTEN, token),
        )
        scene.drop(token)

    world.finally_assert(check)


@explored
def test_a_drop_of_too_many_references_does_not_refuse_another_one(world: World) -> None:
    scene = Scene(world, 2)
    token = scene.token()
    scene.main(lambda: async_abi.emplace_object(token))
    scene.main(lambda: async_abi.add_ref_on_top(token, 1))
    scene.thread(lambda: async_abi.drop_ref_on_top(token, 2, RECORD))
    scene.thread(lambda: async_abi.drop_ref_on_top(token, 1, 0))

    def check() -> None:
        assert scene.coroutines.events == [(at.EVENT_DROPPED_TOO_OFTEN, RECORD)]
        scene.drop(token)

    world.finally_assert(check)


@explored
def test_of_references_counted_by_hand_no_more_are_dropped_than_there_are(world: World) -> None:
    scene = Scene(world, 2, checked=True)
    token = scene.token()
    scene.main(lambda: async_abi.emplace_object(token))
    scene.thread(lambda: async_abi.drop_ref_by_hand(token, 1, RECORD))
    scene.thread(lambda: async_abi.drop_ref_by_hand(token, 1, RECORD))
    world.finally_assert(lambda: scene.coroutines.events == [(at.EVENT_DROPPED_TOO_OFTEN, RECORD)])
