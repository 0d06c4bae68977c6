"""Test small scenes with AsyncValues: waiters, errors, references, forwards, and latches.

Every interleaving is tried.
"""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explore, explore_at_random, explored
from tests.exploring.simulated_host import SimulatedHost, name_cell
from tests.simulator.failures import DataRace, Leak, UseAfterFree, WrongOutcome

from tfrt_runtime.native import async_value, handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import load, load_acquire, store_release
from tfrt_runtime.native.queues import tasks
from tfrt_runtime.native.queues.waiters import drop_latch


def payload(value: int) -> int:
    """Return the first payload word of an available value."""
    return load(async_value.resolve(value) + at.VALUE_PAYLOAD)


def new_target(world: World, host: SimulatedHost, payload_type: int) -> int:
    """Create an unresolved value with two references.

    One is for its producer, and one for the value that forwards to it.
    """
    target = name_cell(world, handles.value_make(host.main, payload_type), "target")
    handles.value_add_reference(target)
    return target


def new_indirect(world: World, host: SimulatedHost, name: str = "indirect") -> int:
    """Create a value that will forward to another one."""
    return name_cell(world, handles.value_make_indirect(host.main), name)


def emplace(context: int, value: int, payload_type: int = at.TYPE_OBJECT) -> None:
    """Make a value available, and drop a reference."""
    handles.value_emplace(context, value, payload_type, 42, 0)
    handles.value_drop(context, value)


@pytest.mark.parametrize("waiters", [1, 2])
@explored
def test_every_waiter_runs_once(world: World, waiters: int) -> None:
    host = SimulatedHost(world, outside=waiters + 1)
    publisher, *others = host.outside
    value = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "value")
    world.thread(lambda: handles.value_emplace(publisher, value, at.TYPE_I64, 42, 0), "publisher")
    for number, context in enumerate(others):
        world.thread(
            lambda context=context, number=number: handles.value_and_then(context, value, number)
        )

    def check() -> None:
        assert sorted(host.called) == list(range(waiters))
        assert payload(value) == 42
        handles.value_drop(host.main, value)
        assert host.live_values() == 0

    world.finally_assert(check)


@explored
def test_an_error_runs_the_waiters_too_and_its_diagnostic_is_released_once(world: World) -> None:
    host = SimulatedHost(world, outside=3)
    publisher, left, right = host.outside
    value = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "value")
    world.thread(lambda: handles.value_set_error(publisher, value, 7))
    world.thread(lambda: handles.value_and_then(left, value, 1))
    world.thread(lambda: handles.value_and_then(right, value, 2))

    def check() -> None:
        assert async_value.state_of(value) == at.ERROR
        handles.value_drop(host.main, value)
        assert (sorted(host.called), host.released) == ([1, 2], [7])

    world.finally_assert(check)


@explored
def test_a_thread_that_sees_an_error_sees_its_diagnostic(world: World) -> None:
    host = SimulatedHost(world, outside=1)
    [publisher] = host.outside
    value = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "value")

    def read() -> None:
        if async_value.state_of(value) == at.ERROR:
            assert payload(value) == 7

    world.thread(lambda: handles.value_set_error(publisher, value, 7), "publisher")
    world.thread(read, "reader")
    world.finally_assert(lambda: handles.value_drop(host.main, value) is None)


@explored
def test_of_two_who_want_to_resolve_a_value_one_does(world: World) -> None:
    host = SimulatedHost(world, outside=3)
    first, second, waiter = host.outside
    value = name_cell(world, handles.value_make(host.main, at.TYPE_OBJECT), "value")

    def emplace_one() -> None:
        if handles.value_claim(value):
            handles.value_emplace(first, value, at.TYPE_OBJECT, 1, 0)

    def fail() -> None:
        if handles.value_claim(value):
            handles.value_set_error(second, value, 2)

    world.thread(emplace_one, "emplacer")
    world.thread(fail, "who fails")
    world.thread(lambda: handles.value_and_then(waiter, value, 9), "waiter")

    def check() -> None:
        handle = {at.CONCRETE: 1, at.ERROR: 2}[async_value.state_of(value)]
        assert payload(value) == handle
        handles.value_drop(host.main, value)
        assert (host.called, host.released) == ([9], [handle])

    world.finally_assert(check)


def sharing(world: World) -> None:
    """Let three threads read a value and drop their references; the object is released once."""
    host = SimulatedHost(world, outside=3)
    value = name_cell(world, handles.value_of(host.main, at.TYPE_OBJECT, 5, 0), "value")
    for _ in range(2):
        handles.value_add_reference(value)

    def use(context: int) -> None:
        assert payload(value) == 5
        handles.value_drop(context, value)

    for context in host.outside:
        world.thread(lambda context=context: use(context))
    world.finally_assert(lambda: host.released == [5] and host.live_values() == 0)


def test_the_last_reference_releases_the_object() -> None:
    assert explore(sharing).complete


def test_a_count_that_is_not_atomic_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_add(address: int, number: int) -> int:
        old = load_acquire(address)
        store_release(address, old + number)
        return old

    monkeypatch.setattr(async_value, "fetch_add", fetch_add)
    with pytest.raises((DataRace, Leak, UseAfterFree, WrongOutcome)):
        explore(sharing)


@explored
def test_references_may_be_added_while_others_are_dropped(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    value = name_cell(world, handles.value_of(host.main, at.TYPE_OBJECT, 5, 0), "value")
    handles.value_add_reference(value)

    def use(context: int) -> None:
        handles.value_add_reference(value)
        handles.value_drop(context, value)
        handles.value_drop(context, value)

    for context in host.outside:
        world.thread(lambda context=context: use(context))
    world.finally_assert(lambda: host.released == [5] and host.live_values() == 0)


@explored
def test_a_forward_meets_the_target_before_during_or_after_it_resolves(world: World) -> None:
    host = SimulatedHost(world, outside=3)
    emplacer, forwarder, waiter = host.outside
    target = new_target(world, host, at.TYPE_OBJECT)
    indirect = new_indirect(world, host)

    world.thread(lambda: emplace(emplacer, target), "emplacer")
    world.thread(lambda: handles.value_forward(forwarder, indirect, target), "forwarder")
    world.thread(lambda: handles.value_and_then(waiter, indirect, 9), "waiter")

    def check() -> None:
        assert async_value.state_of(indirect) == at.CONCRETE
        assert payload(indirect) == 42
        handles.value_drop(host.main, indirect)
        assert (host.called, host.released, host.live_values()) == ([9], [42], 0)

    world.finally_assert(check)


@explored
def test_a_forward_to_an_error_is_that_error(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    publisher, forwarder = host.outside
    target = new_target(world, host, at.TYPE_I64)
    indirect = new_indirect(world, host)

    def fail() -> None:
        handles.value_set_error(publisher, target, 7)
        handles.value_drop(publisher, target)

    world.thread(fail)
    world.thread(lambda: handles.value_forward(forwarder, indirect, target))

    def check() -> None:
        assert async_value.state_of(indirect) == at.ERROR
        handles.value_drop(host.main, indirect)
        assert (host.released, host.live_values()) == ([7], 0)

    world.finally_assert(check)


def test_a_chain_of_forwards_resolves_in_whatever_order_it_is_tied() -> None:
    def scenario(world: World) -> None:
        host = SimulatedHost(world, outside=3)
        target = new_target(world, host, at.TYPE_OBJECT)
        inner = new_indirect(world, host, "inner")
        outer = new_indirect(world, host, "outer")
        handles.value_add_reference(inner)

        def forward_inner(context: int) -> None:
            handles.value_forward(context, inner, target)
            handles.value_drop(context, inner)

        first, second, third = host.outside
        world.thread(lambda: emplace(first, target), "emplacer")
        world.thread(lambda: forward_inner(second), "inner")
        world.thread(lambda: handles.value_forward(third, outer, inner), "outer")

        def check() -> None:
            assert payload(outer) == 42
            handles.value_drop(host.main, outer)
            assert (host.released, host.live_values()) == ([42], 0)

        world.finally_assert(check)

    explore(scenario, interleavings=200)
    explore_at_random(scenario, seed=1, interleavings=100)


@explored
def test_an_indirect_value_may_be_given_up_before_its_target_is_there(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    emplacer, owner = host.outside
    target = new_target(world, host, at.TYPE_OBJECT)
    indirect = new_indirect(world, host)

    def forward_and_give_up() -> None:
        handles.value_forward(owner, indirect, target)
        handles.value_drop(owner, indirect)

    world.thread(lambda: emplace(emplacer, target))
    world.thread(forward_and_give_up)
    world.finally_assert(lambda: host.released == [42] and host.live_values() == 0)


@pytest.mark.parametrize("waits_for", ["itself", "nothing", "another value"])
@explored
def test_a_value_that_was_given_up_stays_an_error(world: World, waits_for: str) -> None:
    host = SimulatedHost(world, outside=3)
    emplacer, forwarder, waiter = host.outside
    target = new_target(world, host, at.TYPE_OBJECT)
    indirect = new_indirect(world, host)
    failure = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "failure")
    handles.value_set_error(host.main, failure, 7)
    if waits_for == "itself":
        handles.value_add_reference(indirect)
        handles.value_forward(host.main, indirect, indirect)
    elif waits_for == "another value":
        handles.value_add_reference(target)
        handles.value_forward(host.main, indirect, target)
    handles.value_break(host.main, indirect, failure)

    world.thread(lambda: emplace(emplacer, target), "emplacer")
    world.thread(lambda: handles.value_forward(forwarder, indirect, target), "forwarder")
    world.thread(lambda: handles.value_and_then(waiter, indirect, 9), "waiter")

    def check() -> None:
        assert (async_value.state_of(indirect), host.called) == (at.ERROR, [9])
        handles.value_drop(host.main, indirect)
        assert (sorted(host.released), host.live_values()) == ([7, 42], 0)

    world.finally_assert(check)


@explored
def test_a_cell_that_is_dropped_on_one_thread_is_used_again_there(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    value = name_cell(world, handles.value_of(host.main, at.TYPE_I64, 1, 0), "value")
    handles.value_add_reference(value)
    made = []

    def drop_and_make(context: int) -> None:
        assert payload(value) == 1
        handles.value_drop(context, value)
        made.append(handles.value_of(context, at.TYPE_I64, 2, 0))

    for context in host.outside:
        world.thread(lambda context=context: drop_and_make(context))

    def check() -> None:
        assert value in made
        for other in made:
            assert load(other + at.VALUE_REFERENCES) == 1
            handles.value_drop(host.main, other)

    world.finally_assert(check)


@explored
def test_a_thread_that_sleeps_on_a_latch_wakes_up_when_the_value_resolves(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    publisher, sleeper = host.outside
    value = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "value")
    handles.value_add_reference(value)

    def wait() -> None:
        latch = handles.latch_make(sleeper, value)
        while load_acquire(latch) != 0:
            tasks.sleep_on_queue(sleeper, latch, -1)
        assert payload(value) == 42
        drop_latch(sleeper, latch)
        handles.value_drop(sleeper, value)

    world.thread(lambda: emplace(publisher, value, at.TYPE_I64), "publisher")
    world.thread(wait, "sleeper")
    world.finally_assert(lambda: host.live_values() == 0)
