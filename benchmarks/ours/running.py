"""Run a program on each kind of queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from benchmarks.work import Run, Work
from tfrt_nb import HostContext, Program

QUEUES = (("s", 1), ("mstd:1", 1), ("mstd:2", 2), ("mstd:4", 2))
"""Descriptions of queues, each with its processors; the last has more workers than processors."""


def opened(
    queue: str,
    text: str,
    arguments: tuple[int, ...],
    expected: int | None,
    tier: str = "interpreter",
) -> Callable[[], AbstractContextManager[Run]]:
    """Open a loaded program; time it from the start of a run until nothing of the run is left.

    Functions of scalars are machine code only if `tier` says so, because otherwise the executor
    would not be measured. Programs without kernels of TFRT, which are in the async dialect, are
    always machine code.
    """
    if "tfrt" not in text:
        tier = "compiled"  # the interpreter of their functions is written in Python, for debugging

    @contextmanager
    def make() -> Iterator[Run]:
        program = Program.from_source(text, "benchmark")
        program.load()
        with HostContext(queue, output=lambda _: None) as host:
            result = program.run(host, arguments=arguments, tier=tier).results[0].result()
            if expected is not None and result != expected:
                raise ValueError(f"the result is {result}, not {expected}")
            yield lambda: program.run(host, arguments=arguments, tier=tier).wait()

    return make


def on_each_queue(
    case: str,
    text: str,
    expected: int | None,
    operations: int,
    arguments: tuple[int, ...] = (),
    queues: Sequence[tuple[str, int]] = QUEUES,
) -> list[Work]:
    """Return a work for each queue."""
    return [
        Work(
            case,
            queue,
            opened(queue, text, arguments, expected),
            operations,
            cores,
        )
        for queue, cores in queues
    ]
