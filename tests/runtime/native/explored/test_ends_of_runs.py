"""Test the end of a run while a thread asks to be notified of it, in all interleavings."""

from __future__ import annotations

from tests.exploring.explorer import World, explored
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls.activation import leave_request
from tfrt_runtime.native.handles import request_enter, request_notify
from tfrt_runtime.native.memory import load, store, take_all


@explored
def test_python_hears_of_the_end_or_finds_the_run_among_those_that_are_over(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    request = host.request(active=1)
    store(request + at.REQUEST_NOTIFY, 0)
    store(request + at.REQUEST_OPEN, 1)
    hears: list[int] = []
    world.thread(lambda: leave_request(host.outside[0], request), "ends")
    world.thread(lambda: hears.append(request_notify(request)), "asks")

    def check() -> None:
        over = take_all(host.process + at.PROCESS_OVER)
        found = (hears, host.done, over, load(request + at.REQUEST_OPEN))
        # Only the callback sets the word.
        assert found in (([1], [request], 0, 1), ([0], [], request, 0))

    world.finally_assert(check)


@explored
def test_runs_that_end_at_once_are_all_found_once(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    requests = [host.request(active=1) for _ in range(2)]
    for request in requests:
        store(request + at.REQUEST_NOTIFY, 0)
    found: list[int] = []
    for context, request in zip(host.outside, requests, strict=True):
        world.thread(lambda c=context, r=request: leave_request(c, r), "ends")  # type: ignore[misc]
    world.thread(lambda: found.append(take_all(host.process + at.PROCESS_OVER)), "forgets")

    def check() -> None:
        left = [take_all(host.process + at.PROCESS_OVER)]
        seen = []
        for one in (*found, *left):
            while one:
                seen.append(one)
                one = load(one + at.REQUEST_NEXT)
        assert sorted(seen) == sorted(requests)

    world.finally_assert(check)


@explored
def test_a_run_is_entered_before_its_end_or_not_at_all(world: World) -> None:
    host = SimulatedHost(world, outside=1)
    request = host.request(active=1)
    entered: list[int] = []
    world.thread(lambda: leave_request(host.outside[0], request), "ends")
    world.thread(lambda: entered.append(request_enter(request)), "enters")

    def check() -> None:
        assert host.done == ([] if entered[0] else [request])
        if entered[0]:
            leave_request(host.main, request)
        assert (host.done, load(request + at.REQUEST_ACTIVE)) == ([request], 0)

    world.finally_assert(check)
