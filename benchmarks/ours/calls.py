"""Calls from Python: the start of a run to its result, submissions, and Python kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from benchmarks.ours import programs
from benchmarks.ours.running import QUEUES, on_each_queue
from benchmarks.sizes import CALLED, KERNELS, SUBMITTED
from benchmarks.work import EACH, THREADS, Run, Work, submitters, whole
from tfrt_nb import HostContext, Program, call, call_each, kernel, set_default_host

TWO = QUEUES[:3:2]


@kernel("benchmark.increment")
def increment(x: int) -> int:
    """The work of the Python kernels."""
    return x + 1


def one_by_one(text: str, queue: str) -> Callable[[], AbstractContextManager[Run]]:
    """Wait for each call before the next starts."""

    @contextmanager
    def make() -> Iterator[Run]:
        program = Program(text)
        with HostContext(queue) as host:

            def run() -> None:
                for i in range(SUBMITTED):
                    program.run(i, 1, host=host).result()

            yield run

    return make


def submitted(queue: str) -> Callable[[], AbstractContextManager[Run]]:
    """Start all calls, then add their results."""

    @contextmanager
    def make() -> Iterator[Run]:
        program = Program(programs.ADD)
        with HostContext(queue) as host:
            yield lambda: [
                run.result() for run in [program.run(i, 1, host=host) for i in range(SUBMITTED)]
            ]

    return make


def in_bulk(queue: str) -> Callable[[], AbstractContextManager[Run]]:
    """Make one Python call for all."""

    @contextmanager
    def make() -> Iterator[Run]:
        program, column = Program(programs.ADD), np.arange(SUBMITTED)
        with HostContext(queue) as host:
            yield lambda: program.map(column, column, host=host).result()

    return make


def at_once(
    queue: str, take: Callable[[Callable[[int], object]], AbstractContextManager[Run]]
) -> Callable[[], AbstractContextManager[Run]]:
    """Submit from eight threads; `take` says what is measured."""

    @contextmanager
    def make() -> Iterator[Run]:
        program = Program(programs.ADD)
        with (
            HostContext(queue) as host,
            take(lambda i: program.run(i, 1, host=host).result()) as run,
        ):
            yield run

    return make


def eager(queue: str, run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """Return `run` on the default host."""

    @contextmanager
    def make() -> Iterator[Run]:
        with HostContext(queue) as host:
            set_default_host(host)
            yield run
            set_default_host(None)

    return make


def in_turn() -> None:
    """Wait for each call before the next starts."""
    for i in range(SUBMITTED):
        call("tfrt.add.i32", i, 1).result()


def all_at_once() -> int:
    """Start all calls, then add their results."""
    return sum([value.result() for value in [call(increment, i) for i in range(CALLED)]])


def each_of_a_column() -> int:
    """Make one Python call for all."""
    results: list[Any] = call_each(increment, range(CALLED)).result()
    return sum(results)


WORKS = (
    *[
        Work(case, f"{name}, {queue}", make(queue), SUBMITTED, cores)
        for queue, cores in TWO
        for case, name, make in (
            ("submitted", "run", submitted),
            ("submitted", "map", in_bulk),
            ("start", "run", lambda queue: one_by_one(programs.ADD, queue)),
            ("start", "run of compiled code", lambda queue: one_by_one(programs.ADDI, queue)),
        )
    ],
    *[
        Work(case, f"run, {queue}", at_once(queue, take), operations, cores=2)
        for queue, _ in TWO
        for case, take, operations in (
            ("eight_threads", whole, THREADS * EACH),
            ("longest_wait", submitters, 1),
        )
    ],
    Work("start", "tfrt.call, s", eager("s", in_turn), SUBMITTED),
    *[
        Work("called", f"{name}, {queue}", eager(queue, run), CALLED, cores)
        for queue, cores in TWO
        for name, run in (("tfrt.call", all_at_once), ("tfrt.call_each", each_of_a_column))
    ],
    *on_each_queue(
        "python_kernel",
        programs.python_kernels("benchmark.increment", KERNELS),
        KERNELS,
        KERNELS,
        (0,),
        TWO,
    ),
)
