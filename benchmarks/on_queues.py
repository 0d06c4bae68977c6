"""One program on each kind of queue."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.measure import Variant
from tfrt_nb import HostContext, Program

OURS = "tfrt-nb"
QUEUES = ("s", "mstd:2")


def runs(
    host: HostContext, text: str, arguments: tuple[int, ...], expected: int
) -> Callable[[], None]:
    """One run of a loaded program, from its start until nothing of it is left."""
    program = Program.from_source(text, "benchmark")
    program.load()
    assert program.run(host, arguments=arguments).results[0].result() == expected

    def run() -> None:
        program.run(host, arguments=arguments).wait()

    return run


def on_each_queue(
    stack: ExitStack,
    text: str,
    arguments: tuple[int, ...],
    expected: int,
    operations: int,
    queues: tuple[str, ...] = QUEUES,
    name: str = "executor",
) -> list[Variant]:
    """Our variants: the program on one thread, and on workers."""
    return [
        Variant(
            f"{name}, {queue}",
            OURS,
            runs(stack.enter_context(HostContext(queue)), text, arguments, expected),
            operations,
        )
        for queue in queues
    ]
