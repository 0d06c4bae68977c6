"""The same random program on every queue: the same values, and nothing left over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfrt_nb.program import Program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.testing.random_programs import random_program

QUEUES = ("s", "mstd:1", "mstd:2", "mstd:8")
PROGRAMS_PER_TEST = 12


@pytest.fixture(scope="module")
def hosts() -> Iterator[dict[str, HostContext]]:
    hosts = {queue: HostContext(queue, output=lambda _: None) for queue in QUEUES}
    yield hosts
    for host in hosts.values():
        host.close()


def results_of(program: Program, host: HostContext) -> list[object]:
    """What @main returns; None for an error, as which of two errors wins may depend on order."""
    run = program.run(host)
    assert run.wait(30), "the program does not end"
    return [value.result(0) if value.exception(0) is None else None for value in run.results]


@pytest.mark.parametrize("block", range(8))
def test_every_queue_computes_the_same_values_and_frees_everything(
    block: int, hosts: dict[str, HostContext]
) -> None:
    for seed in range(block * PROGRAMS_PER_TEST, (block + 1) * PROGRAMS_PER_TEST):
        program = Program.from_source(random_program(seed), f"random {seed}")
        results = {queue: results_of(program, host) for queue, host in hosts.items()}
        alive = {queue: host.live_values() for queue, host in hosts.items()}

        assert results == dict.fromkeys(QUEUES, results["s"]), f"seed {seed}"
        assert alive == dict.fromkeys(QUEUES, 0), f"seed {seed}"
