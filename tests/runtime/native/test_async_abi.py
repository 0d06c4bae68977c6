"""Test the C functions of compiled coroutines, called in sequence.

The tests check counts, states, storage, and errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.exploring.choosers import FollowSchedule
from tests.exploring.simulated_coroutines import SimulatedCoroutines
from tests.exploring.simulated_host import SimulatedHost
from tests.simulator.core import Machine
from tests.simulator.world import World

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import memory
from tfrt_runtime.native.coroutines import async_abi, async_awaiting, async_objects
from tfrt_runtime.native.memory import EXPORTS, load, store


@contextmanager
def compiled_code(*, checked: bool = False, left_over: int = 0) -> Iterator[SimulatedCoroutines]:
    """Run the block as compiled code on a host without workers; nothing may be left in the end."""
    world = World(FollowSchedule(()), Machine())
    memory.set_world(world)
    try:
        host = SimulatedHost(world)
        coroutines = SimulatedCoroutines(host, checked=checked)
        memory.set_thread_context(host.main)
        yield coroutines
        coroutines.sweep()
        assert host.live_values() == left_over
        if left_over == 0:
            world.run()
    finally:
        memory.set_world(None)


def references(value: int) -> int:
    """Return how many references an object has."""
    return load(value + at.VALUE_REFERENCES)


def test_tokens_and_values_start_with_two_references_and_groups_with_one() -> None:
    with compiled_code():
        token, value = async_abi.create_token(), async_abi.create_value(8)
        group = async_abi.create_group(0)

        # The list of objects has a reference to the group, too.
        assert [references(token), references(value), references(group)] == [2, 2, 1 + 1]

        async_abi.emplace_object(token)
        async_abi.emplace_object(value)
        assert [references(token), references(value)] == [1, 1]

        for made in (token, value, group):
            async_abi.drop_ref(made, 1)


def test_references_come_and_go_in_any_number() -> None:
    with compiled_code():
        token = async_abi.create_token()
        async_abi.add_ref(token, 5)
        async_abi.drop_ref(token, 4)

        assert references(token) == 3

        async_abi.drop_ref(token, 3)


@pytest.mark.parametrize("size", [0, 1, 4, 8])
def test_a_small_value_lies_where_python_reads_payloads(size: int) -> None:
    with compiled_code():
        value = async_abi.create_value(size)

        assert async_abi.get_value_storage(value) == value + at.VALUE_PAYLOAD

        async_abi.drop_ref(value, 2)


@pytest.mark.parametrize("size", [9, 16, 64, 100, 5000])
def test_a_large_value_lies_16_aligned_in_a_block_of_its_own(size: int) -> None:
    with compiled_code():
        value = async_abi.create_value(size)
        storage = async_abi.get_value_storage(value)
        for offset in range(0, size - 7, 8):
            store(storage + offset, offset)

        assert storage % 16 == 0
        assert [load(storage + o) for o in range(0, size - 7, 8)] == [*range(0, size - 7, 8)]

        async_abi.drop_ref(value, 2)


def test_a_token_is_no_error_before_it_is_resolved_to_one() -> None:
    with compiled_code() as coroutines:
        token = async_abi.create_token()
        before = async_abi.is_error(token)
        async_abi.set_error(token)

        assert (before, async_abi.is_error(token)) == (0, 1)

        async_abi.drop_ref(token, 1)
        assert coroutines.host.released == [1]


def test_objects_that_fail_for_one_reason_share_the_error() -> None:
    with compiled_code() as coroutines:
        token, value, other = (
            async_abi.create_token(),
            async_abi.create_value(100),
            async_abi.create_value(8),
        )
        async_abi.describe_error(token, 1)
        async_abi.set_error(token)
        async_abi.inherit_error(value, token)
        async_abi.set_error(value)
        async_abi.inherit_error(other, value)
        async_abi.set_error(other)
        async_abi.drop_ref(token, 1)
        async_abi.drop_ref(value, 1)
        before = list(coroutines.host.released)
        async_abi.drop_ref(other, 1)

        assert (before, coroutines.host.released) == ([], [1])


def test_the_failure_of_a_function_goes_to_all_results_of_its_caller() -> None:
    with compiled_code() as coroutines:
        token, value = async_abi.create_token(), async_abi.create_value(8)
        async_abi.fail(1)
        async_abi.take_failure(value)
        async_abi.set_error(value)
        async_abi.take_failure(token)
        async_abi.set_error(token)
        async_abi.drop_ref(token, 1)
        async_abi.drop_ref(value, 1)
        context = coroutines.host.main
        async_awaiting.drop_optional(context, load(context + at.CONTEXT_FAILURE))

        assert coroutines.host.released == [1]


def test_a_second_transition_is_told_and_changes_nothing() -> None:
    with compiled_code() as coroutines:
        token = async_abi.create_token()
        async_abi.emplace_object(token)
        async_abi.emplace_object(token)
        async_abi.set_error(token)

        assert coroutines.events == [(at.EVENT_RESOLVED_TWICE, token)] * 2
        assert (async_abi.is_error(token), references(token)) == (0, 1)

        async_abi.drop_ref(token, 1)


@pytest.mark.parametrize("size", [1, 8, 9, 64])
def test_a_payload_that_comes_after_its_value_was_given_up_leaves_the_error_alone(
    size: int,
) -> None:
    with compiled_code() as coroutines:
        token, value = async_abi.create_token(), async_abi.create_value(size)
        async_abi.describe_error(token, 1)
        async_abi.set_error(token)
        context = coroutines.host.main
        async_objects.async_abandon(context, value, async_objects.error_of(context, token))
        store(async_abi.get_value_storage(value), 77)
        async_abi.emplace_object(value)
        async_abi.drop_ref(token, 1)

        assert (async_abi.is_error(value), coroutines.host.released) == (1, [])

        async_abi.drop_ref(value, 1)
        assert coroutines.host.released == [1]


def test_where_references_are_checked_a_drop_too_many_is_told() -> None:
    with compiled_code(checked=True) as coroutines:
        token = async_abi.create_token()
        async_abi.drop_ref(token, 2)
        async_abi.drop_ref(token, 1)

        assert coroutines.events == [(at.EVENT_RELEASED_TOO_OFTEN, token)]


def test_ranks_count_members_and_an_empty_group_is_complete() -> None:
    with compiled_code() as coroutines:
        empty, group = async_abi.create_group(0), async_abi.create_group(2)
        token, value = async_abi.create_token(), async_abi.create_value(8)
        async_abi.await_and_execute(empty, 1, coroutines.resume)
        async_abi.await_and_execute(group, 2, coroutines.resume)
        ranks = [
            async_abi.add_to_group(token, group),
            async_abi.add_to_group(value, group),
        ]
        async_abi.emplace_object(value)
        coroutines.run_tasks(coroutines.host.main)
        before = list(coroutines.resumed)
        async_abi.emplace_object(token)
        coroutines.run_tasks(coroutines.host.main)

        assert (ranks, before, coroutines.resumed) == ([0, 1], [1], [1, 2])

        for made in (empty, group, token, value):
            async_abi.drop_ref(made, 1)


def test_a_group_is_in_error_as_soon_as_one_member_is() -> None:
    with compiled_code():
        group, token = async_abi.create_group(2), async_abi.create_token()
        async_abi.add_to_group(token, group)
        before = async_abi.is_group_error(group)
        async_abi.set_error(token)

        assert (before, async_abi.is_group_error(group)) == (0, 1)

        async_abi.drop_ref(token, 1)
        async_abi.drop_ref(group, 1)


def test_a_member_too_many_is_an_error_of_the_group() -> None:
    with compiled_code():
        group, token = async_abi.create_group(0), async_abi.create_token()
        async_abi.add_to_group(token, group)

        assert async_abi.is_group_error(group) == 1

        async_abi.drop_ref(token, 2)
        async_abi.drop_ref(group, 1)


def test_a_coroutine_that_need_not_wait_goes_on_at_once() -> None:
    with compiled_code() as coroutines:
        token = async_abi.create_token()
        async_abi.emplace_object(token)
        async_abi.await_and_execute(token, 7, coroutines.resume)

        assert coroutines.resumed == [7]

        async_abi.drop_ref(token, 1)


def test_coroutines_go_on_inside_of_each_other_up_to_a_bounded_depth() -> None:
    with compiled_code() as coroutines:
        depths: list[int] = []
        token = async_abi.create_token()
        async_abi.emplace_object(token)

        def go_on(handle: int) -> None:
            depths.append(depths[-1] + 1 if depths else 1)
            if handle < 200:
                async_abi.await_and_execute(token, handle + 1, coroutines.resume)
            depths.append(depths[-1] - 1)

        coroutines.when_resumed = go_on
        async_abi.execute(0, coroutines.resume)
        coroutines.run_tasks(coroutines.host.main)

        assert coroutines.resumed == [*range(201)]
        # The first one is a task; the others are nested in it.
        assert max(depths) == 1 + async_awaiting.MAX_NESTED_COROUTINES

        async_abi.drop_ref(token, 1)


@pytest.mark.parametrize("workers", [0, 1])
def test_who_spawns_without_end_runs_what_it_spawns(workers: int) -> None:
    enough = async_awaiting.ENOUGH_WAITING if workers else async_awaiting.ENOUGH_ALONE
    with compiled_code() as coroutines:
        store(coroutines.host.queue + at.QUEUE_WORKERS, workers)
        for handle in range(enough + 3):
            async_abi.execute(handle, coroutines.resume)
        at_once = list(coroutines.resumed)
        store(coroutines.host.queue + at.QUEUE_WORKERS, 0)
        coroutines.run_tasks(coroutines.host.main)

        assert at_once == [*range(enough, enough + 3)]
        assert len(coroutines.resumed) == enough + 3


def test_of_a_recursion_of_tasks_few_wait_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(async_awaiting, "ENOUGH_ALONE", 4)
    with compiled_code() as coroutines:
        waited = []

        def fork(number: int) -> None:
            if number < 64:
                for child in (2 * number, 2 * number + 1):
                    before = len(coroutines.resumed)
                    async_abi.execute(child, coroutines.resume)
                    if len(coroutines.resumed) == before:
                        waited.append(child)

        coroutines.when_resumed = fork
        async_abi.execute(1, coroutines.resume)
        coroutines.run_tasks(coroutines.host.main)

        assert sorted(coroutines.resumed) == [*range(1, 128)]
        # A round of the queue adds 4 at most; the others start at once, on their parents' stacks.
        assert len(waited) < 40


def test_the_names_are_those_of_mlir_s_runtime() -> None:
    theirs = [name for name in EXPORTS if name.startswith("mlirAsyncRun")]

    assert len(theirs) == 24  # 22 for MLIR's lowering, one for tests, and one for groups of values
    assert "mlirAsyncRuntimGetNumWorkerThreads" in theirs
