"""asyncio, on a loop of any implementation: a Task for each value."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from subprocess import run as run_process
from sys import executable

from benchmarks import sizes
from benchmarks.peers.trees import reduced
from benchmarks.work import Run, Work

NewLoop = Callable[[], asyncio.AbstractEventLoop]
Main = Callable[[], Coroutine[object, object, object]]

PROCESS = """
import asyncio
async def add(left, right): return left + right
async def main(): print(await asyncio.create_task(add(40, 2)))
asyncio.run(main())
"""


async def later(left: asyncio.Task[int] | None, right: asyncio.Task[int] | None = None) -> int:
    """Add two values; a missing one counts as 0 or 1."""
    return (0 if left is None else await left) + (1 if right is None else await right)


async def chain(length: int) -> int:
    """Make a Task per add; each awaits the one before."""
    value = asyncio.create_task(later(None))
    for _ in range(length - 1):
        value = asyncio.create_task(later(value))
    return await value


async def tree(size: int) -> int:
    """Make a Task per add; an inner one awaits two."""

    def start(
        left: asyncio.Task[int] | None = None, right: asyncio.Task[int] | None = None
    ) -> asyncio.Task[int]:
        return asyncio.create_task(later(left, right))

    return await reduced([start() for _ in range(size)], start)


async def loop(rounds: int) -> int:
    """Run a coroutine per iteration."""

    async def step(value: int) -> int:
        return value + 1

    value = 0
    for _ in range(rounds):
        value = await step(value)
    return value


async def fib(n: int) -> int:
    """Compute fib with an awaitable per call."""
    return n if n <= 1 else await fib(n - 1) + await fib(n - 2)


async def fib_tasks(n: int) -> int:
    """Compute fib with a Task per call."""
    if n <= 1:
        return n
    left = asyncio.create_task(fib_tasks(n - 1))
    right = asyncio.create_task(fib_tasks(n - 2))
    return await left + await right


async def tasks(count: int) -> int:
    """Make independent Tasks, and add their results."""
    return sum(await asyncio.gather(*[asyncio.create_task(later(None)) for _ in range(count)]))


async def in_turn(count: int) -> int:
    """Await each Task before the next one is made."""
    return sum([await asyncio.create_task(later(None)) for _ in range(count)])


async def sleeps() -> None:
    """Sleep in Tasks at the same time, without threads."""
    await asyncio.gather(*[asyncio.sleep(sizes.SLEEP_SECONDS) for _ in range(sizes.SLEEPS)])


def on_loop(new_loop: NewLoop, main: Main) -> Callable[[], AbstractContextManager[Run]]:
    """Run a coroutine on an existing loop, as our works do on a host."""

    @contextmanager
    def make() -> Iterator[Run]:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            yield lambda: runner.run(main())

    return make


@contextmanager
def process() -> Iterator[Run]:
    """Measure a new process that runs one Task."""
    yield lambda: run_process([executable, "-c", PROCESS], capture_output=True, check=True)


def works(new_loop: NewLoop) -> Iterator[Work]:
    """Yield the works for one implementation of loops."""

    def work(case: str, name: str, main: Main, operations: int = 1) -> Work:
        return Work(case, name, on_loop(new_loop, main), operations)

    each = "Task each"
    yield work("chain_1000", each, lambda: chain(1_000), 1_000)
    yield work("tree_1000", each, lambda: tree(1_000), 1_999)
    yield work("tree_10000", each, lambda: tree(10_000), 19_999)
    yield replace(
        work("loop", "coroutine each", lambda: loop(sizes.ROUNDS // 10), sizes.ROUNDS // 10),
        is_equal=False,
    )
    for case in ("fib", "fib_tasks"):
        yield work(case, each, lambda: fib_tasks(sizes.FIB), sizes.FIB_CALLS)
    yield work("async_fib", "coroutine each", lambda: fib(sizes.FIB), sizes.FIB_CALLS)
    for count in (1_000, 10_000, 100_000):
        yield work(f"tasks_{count}", each, partial(tasks, count), count)
    yield work("submitted", each, lambda: tasks(sizes.SUBMITTED), sizes.SUBMITTED)
    yield work("called", each, lambda: tasks(sizes.CALLED), sizes.CALLED)
    yield work("group", each, lambda: tasks(sizes.GROUP), sizes.GROUP)
    yield work("awaited", each, lambda: in_turn(sizes.AWAITED), sizes.AWAITED)
    yield work("start", each, lambda: in_turn(sizes.SUBMITTED), sizes.SUBMITTED)
    yield work("python_kernel", each, lambda: chain(sizes.KERNELS), sizes.KERNELS)
    yield replace(work("sleeps", "no threads", sleeps), is_equal=False)


WORKS = (*works(asyncio.new_event_loop), Work("process", "one Task", process))
