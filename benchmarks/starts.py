"""What a call from Python takes: the start of a run to its result, and Python kernels."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np

from benchmarks import peers
from benchmarks.measure import Case, Variant
from benchmarks.on_queues import OURS, QUEUES, on_each_queue
from tfrt_nb import HostContext, Program, call, kernel, set_default_host

STARTS = 1_000
KERNELS = 1_000
_HOST = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
"""
_COMPILED = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
"""


def increment(x: int) -> int:
    """What the kernels of Python do."""
    return x + 1


def kernels() -> str:
    """A chain of Python kernels."""
    name = increment.__name__
    lines = [
        f'  %{i + 1} = "benchmark.{name}"(%{i}) : (i32) -> i32\n' for i in range(1, KERNELS + 1)
    ]
    return f"func.func @main(%1: i32) -> i32 {{\n{''.join(lines)}  tfrt.return %{KERNELS + 1} : i32\n}}"


@contextmanager
def start() -> Iterator[Case]:
    """Each call is waited for before the next begins, but in the batch."""
    host_program, compiled = Program(_HOST), Program(_COMPILED)
    column = np.arange(STARTS)

    def one_by_one(program: Program, host: HostContext) -> None:
        for i in range(STARTS):
            program.run(i, 1, host=host).result()

    def eager() -> None:
        for i in range(STARTS):
            call("tfrt.add.i32", i, 1).result()  # type: ignore[union-attr]

    def submitted(pool: ThreadPoolExecutor) -> None:
        for i in range(STARTS):
            pool.submit(increment, i).result()

    with ExitStack() as stack:
        hosts = {queue: stack.enter_context(HostContext(queue)) for queue in QUEUES}
        pool = stack.enter_context(ThreadPoolExecutor(2))
        set_default_host(hosts["s"])
        stack.callback(set_default_host, None)
        ours = [
            Variant(f"{name}, {queue}", OURS, lambda p=program, h=host: one_by_one(p, h), STARTS)  # type: ignore[misc]
            for name, program in (("run", host_program), ("run of compiled code", compiled))
            for queue, host in hosts.items()
        ]
        batches = [
            Variant(
                f"map, {queue}",
                OURS,
                lambda h=host: host_program.map(column, column, host=h).result(),  # type: ignore[misc]
                STARTS,
            )
            for queue, host in hosts.items()
        ]
        yield Case(
            "start",
            "one add, from its start in Python to its result there",
            "ns per call",
            (
                *ours,
                Variant("tfrt.call, s", OURS, eager, STARTS),
                *batches,
                Variant("function call", "plain Python", lambda: peers.plain_chain(STARTS), STARTS),
                Variant("submit, 2 threads", "concurrent.futures", lambda: submitted(pool), STARTS),
            ),
        )


@contextmanager
def python_kernels() -> Iterator[Case]:
    """A chain, so that one kernel runs at a time."""
    kernel("benchmark.increment")(increment)
    with ExitStack() as stack:
        yield Case(
            "kernel",
            f"{KERNELS} Python kernels, each waiting for the one before",
            "ns per kernel",
            (
                *on_each_queue(stack, kernels(), (0,), KERNELS, KERNELS),
                Variant(
                    "function calls", "plain Python", lambda: peers.plain_chain(KERNELS), KERNELS
                ),
            ),
        )


ALL = (start, python_kernels)
