"""Test the calls of a batch on two simulated workers, in many interleavings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import World, explore, explore_at_random
from tests.exploring.simulated_host import SimulatedHost, name_cell
from tests.exploring.simulated_program import check_run, start_workers
from tests.runtime.native.explored.test_executor_interleavings import (
    ASYNC_ADDS,
    DIAMOND,
    Function,
    Program,
    load_program,
)

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import load, store, store_release
from tfrt_runtime.native.python import python_calls

RETURN = Program([Function(1, [], (0,))], (1,), (1,))
"""A program without kernels: a call is over as soon as it starts."""
PROGRAMS = {"return": RETURN, "diamond": DIAMOND, "async adds": ASYNC_ADDS}
ROW = 8 * (at.ARGUMENT_WORDS + 1)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_calls, "PIECE", 2)


def batch(program: Program, *, is_cancelled: bool = False) -> Callable[[World], None]:
    """Return a scenario of a program with one argument and one result, for 0, 1, and 2.

    The result for 1 determines the others. The memory of the program and of the request is freed as
    soon as the run has finished, if nothing cancels it.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        [address] = load_program(host, program.functions)
        request = host.request(active=3, behind=3 * ROW)
        rows = [request + at.REQUEST_SIZE + ROW * i for i in range(3)]
        for i, row in enumerate(rows):
            store(row, at.TYPE_I32)
            store(row + 8, i)
        is_open = host.block(8, "open")
        store(is_open, 1)

        def end() -> None:
            host.release_programs()
            store_release(is_open, 0)

        host.on_done = end
        python_calls.start_calls_with(host.main, address, request, 3, 3, 1)
        results = [load(row + ROW - 8) for row in rows]
        for i, result in enumerate(results):
            name_cell(world, result, f"result {i}")
        start_workers(host, is_open)
        if is_cancelled:
            world.thread(lambda: handles.request_cancel(request), "canceller")
        else:
            host.programs.append(request)

        def check() -> None:
            [one] = program.results
            assert isinstance(one, int)
            check_run(host, request, results, [0, one, 2 * one], may_fail=is_cancelled)

        world.finally_assert(check)

    return scenario


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_begins_once_and_the_last_one_may_end_the_request(name: str) -> None:
    explore(batch(PROGRAMS[name]), interleavings=40)
    explore_at_random(batch(PROGRAMS[name]), seed=1, interleavings=60)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_batch_may_be_cancelled_at_any_time(name: str) -> None:
    explore_at_random(batch(PROGRAMS[name], is_cancelled=True), seed=2, interleavings=60)
