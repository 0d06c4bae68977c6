"""Compare random functions as sync functions, whose kernels run in order, and as host functions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fuzz.random_scalar_programs import random_scalar_program

from tfrt_nb.programs import Program
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext

PROGRAMS_PER_TEST = 40
SLOW = 60


@pytest.fixture(scope="module")
def hosts() -> Iterator[dict[str, HostContext]]:
    hosts = {queue: HostContext(queue, output=lambda _: None) for queue in ("s", "mstd:2")}
    yield hosts
    for host in hosts.values():
        host.close()


def results_of(program: Program, host: HostContext, *, watch: bool = False) -> list[str] | None:
    """Return the results of @main as text, or None if an error was raised; all NaNs are equal."""
    run = program.run(4, host=host, watch=watch, tier=Tier.INTERPRETER)
    assert run.wait(SLOW), "the program does not end"
    return None if run.diagnostics else [repr(value.result(0)) for value in run.results]


@pytest.mark.parametrize("block", range(4))
def test_a_sync_function_computes_what_an_asynchronous_one_does(
    block: int, hosts: dict[str, HostContext]
) -> None:
    for seed in range(block * PROGRAMS_PER_TEST, (block + 1) * PROGRAMS_PER_TEST):
        plain, sync = (
            Program.from_source(random_scalar_program(seed, is_sync=is_sync), f"random {seed}")
            for is_sync in (False, True)
        )
        expected = results_of(plain, hosts["s"])
        found = [results_of(sync, host) for host in hosts.values()]
        found.append(results_of(sync, hosts["s"], watch=True))
        alive = [host.live_values() for host in hosts.values()]

        assert found == [expected] * 3, f"seed {seed}"
        assert alive == [0, 0], f"seed {seed}"
