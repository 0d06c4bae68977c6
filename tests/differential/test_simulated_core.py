"""Random programs on the simulated core, two workers in random order: the values of the native one."""

from __future__ import annotations

import pytest

from tfrt_nb.program import Program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.native.handles import value_drop
from tfrt_runtime.native.layouts import REQUEST_ACTIVE
from tfrt_runtime.testing.explorer import Machine, World, explore_at_random
from tfrt_runtime.testing.random_programs import random_program
from tfrt_runtime.testing.simulated_host import SimulatedHost
from tfrt_runtime.testing.simulated_program import load_file, outcome, start, work

INSTEAD = {"tfrt_test.async_copy.with_delay.i32": "tfrt_test.async_copy.i32"}
"""The simulated core calls no kernels that are written in Python, and has no clock."""

LARGE = Machine(step_limit=1_000_000)


def native_results(program: Program) -> list[int | None]:
    """What @main returns; None for an error."""
    with HostContext("s", output=lambda _: None) as host:
        run = program.run(host)
        assert run.wait(30)
        return [value.result(0) if value.exception(0) is None else None for value in run.results]


@pytest.mark.parametrize("seed", range(12))
def test_the_simulated_core_computes_the_same_values_and_frees_everything(seed: int) -> None:
    program = Program.from_source(random_program(seed), f"random {seed}")
    expected = native_results(program)
    kernels = available_kernels()

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        request = host.request(active=1)
        functions = load_file(host, program.file, kernels, INSTEAD)
        results = start(host, request, functions["main"], [], len(expected))
        for context in host.contexts:
            world.thread(lambda context=context: work(context, request + REQUEST_ACTIVE), "worker")

        def check() -> None:
            assert [outcome(result) for result in results] == expected
            for result in results:
                value_drop(host.main, result)
            assert host.done == [request]
            assert host.live_values() == host.own_values

        world.finally_assert(check)

    explore_at_random(scenario, LARGE, seed=seed, interleavings=3)
