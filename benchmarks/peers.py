"""The same work with what Python brings, and with dask.

Every peer makes what ours makes: a value that others can wait for, for each result.  Plain Python
makes no such values; it is here to show what a dependency graph costs at all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future

from benchmarks.programs import reduced

Graph = dict[str, tuple[object, ...]]


def add(left: int, right: int) -> int:
    """What a kernel does."""
    return left + right


def plain_chain(length: int) -> int:
    """A call per add, and no value that anybody could wait for."""
    value = 0
    for _ in range(length):
        value = add(value, 1)
    return value


async def asyncio_chain(length: int) -> int:
    """A Task per add; each awaits the one before."""

    async def add_later(left: asyncio.Task[int] | None) -> int:
        return add(0 if left is None else await left, 1)

    value: asyncio.Task[int] | None = None
    for _ in range(length):
        value = asyncio.create_task(add_later(value))
    return 0 if value is None else await value


def future_chain(executor: Executor, length: int) -> int:
    """A Future per add; each waits for the one before, which an earlier place in the queue ends."""
    value: Future[int] = executor.submit(int)
    for _ in range(length):
        value = executor.submit(lambda left: add(left.result(), 1), value)
    return value.result()


def dask_chain(length: int) -> Graph:
    """A dask graph of the chain."""
    return {f"v{i + 1}": (add, f"v{i}" if i else 0, 1) for i in range(length)}


def plain_tree(count: int) -> int:
    """Adds whose results are added in pairs."""
    return reduced([add(0, 1) for _ in range(count)], add)


async def asyncio_tree(count: int) -> int:
    """A Task per add; an inner one awaits two."""

    async def add_later(left: asyncio.Task[int] | None, right: asyncio.Task[int] | None) -> int:
        return add(0 if left is None else await left, 1 if right is None else await right)

    def start(
        left: asyncio.Task[int] | None = None, right: asyncio.Task[int] | None = None
    ) -> asyncio.Task[int]:
        return asyncio.create_task(add_later(left, right))

    return await reduced([start() for _ in range(count)], start)


def future_tree(executor: Executor, count: int) -> int:
    """A Future per add; an inner one waits for two, which earlier places in the queue end."""

    def add_later(left: Future[int], right: Future[int]) -> Future[int]:
        return executor.submit(lambda: add(left.result(), right.result()))

    return reduced([executor.submit(add, 0, 1) for _ in range(count)], add_later).result()


def dask_tree(count: int) -> tuple[Graph, str]:
    """A dask graph of the same, and the name of its result."""
    graph: Graph = {f"v{i}": (add, 0, 1) for i in range(count)}

    def add_later(left: str, right: str) -> str:
        name = f"v{len(graph)}"
        graph[name] = (add, left, right)
        return name

    return graph, reduced(list(graph), add_later)


async def asyncio_sleeps(count: int, seconds: float) -> int:
    """Tasks that sleep at the same time."""
    await asyncio.gather(*[asyncio.sleep(seconds) for _ in range(count)])
    return 1


def future_sleeps(executor: Executor, count: int, seconds: float) -> None:
    """Futures whose threads sleep."""
    for future in [executor.submit(time.sleep, seconds) for _ in range(count)]:
        future.result()


async def asyncio_tasks(count: int) -> int:
    """Independent Tasks and their sum."""

    async def add_later() -> int:
        return add(1, 1)

    return sum(await asyncio.gather(*[asyncio.create_task(add_later()) for _ in range(count)]))


def future_tasks(executor: Executor, count: int) -> int:
    """Independent Futures and their sum."""
    return sum(future.result() for future in [executor.submit(add, 1, 1) for _ in range(count)])


def dask_tasks(count: int) -> Graph:
    """A dask graph of independent adds and their sum."""
    names = [f"v{i + 1}" for i in range(count)]
    return {**{name: (add, 1, 1) for name in names}, "sum": (sum, names)}


def plain_fib(n: int) -> int:
    """As everybody writes it."""
    return n if n <= 1 else plain_fib(n - 1) + plain_fib(n - 2)


async def asyncio_fib(n: int) -> int:
    """With an awaitable per call; not even Tasks."""
    return n if n <= 1 else await asyncio_fib(n - 1) + await asyncio_fib(n - 2)


async def asyncio_fib_tasks(n: int) -> int:
    """With a Task per call, which is what an asynchronous call is in ours."""
    if n <= 1:
        return n
    left = asyncio.create_task(asyncio_fib_tasks(n - 1))
    right = asyncio.create_task(asyncio_fib_tasks(n - 2))
    return await left + await right


def fib_calls(n: int) -> int:
    """How many calls the recursion makes."""
    return 1 if n <= 1 else 1 + fib_calls(n - 1) + fib_calls(n - 2)


def plain_loop(rounds: int) -> int:
    """A function call per round, as the body of a loop is a function in ours."""
    value = 0
    for _ in range(rounds):
        value = add(value, 1)
    return value


async def asyncio_loop(rounds: int) -> int:
    """A coroutine per round."""

    async def step(value: int) -> int:
        return value + 1

    value = 0
    for _ in range(rounds):
        value = await step(value)
    return value


def on_loop(
    runner: asyncio.Runner, work: Callable[[int], Coroutine[object, object, int]], size: int
) -> Callable[[], int]:
    """Run a coroutine on a loop that is there already, as a host of ours is."""
    return lambda: runner.run(work(size))


async def asyncio_tasks_in_turn(count: int) -> int:
    """A Task that is awaited before the next one is made."""

    async def add_later() -> int:
        return add(1, 1)

    return sum([await asyncio.create_task(add_later()) for _ in range(count)])


def plain_parts(size: int, parts: int) -> list[int]:
    """One added to each of some integers, a part of them after the other."""
    numbers = [0] * size
    for part in range(parts):
        _add_one(numbers, part, parts)
    return numbers


async def asyncio_parts(size: int, parts: int) -> int:
    """The same with a Task for each part; how many integers there are."""
    numbers = [0] * size

    async def work(part: int) -> None:
        _add_one(numbers, part, parts)

    await asyncio.gather(*[asyncio.create_task(work(part)) for part in range(parts)])
    return len(numbers)


def _add_one(numbers: list[int], part: int, parts: int) -> None:
    size = len(numbers) // parts
    for i in range(part * size, (part + 1) * size):
        numbers[i] += 1
