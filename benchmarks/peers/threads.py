"""concurrent.futures: a Future for each value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from operator import add
from subprocess import run as run_process
from sys import executable

import numpy as np

from benchmarks import inputs, sizes
from benchmarks.peers.trees import reduced
from benchmarks.work import EACH, THREADS, Run, Work, submitters, whole

PROCESS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool: print(pool.submit(int.__add__, 40, 2).result())
"""


def _after(left: Future[int]) -> int:
    return left.result() + 1


def chain(pool: ThreadPoolExecutor, length: int) -> int:
    """Make adds, each of which waits for the one before.

    That one is earlier in the queue, so it finishes.
    """
    value: Future[int] = pool.submit(int)
    for _ in range(length):
        value = pool.submit(_after, value)
    return value.result()


def tree(pool: ThreadPoolExecutor, size: int) -> int:
    """Make adds, the inner ones of which wait for two others.

    Those are earlier in the queue, so they finish.
    """

    def add_later(left: Future[int], right: Future[int]) -> Future[int]:
        return pool.submit(lambda: add(left.result(), right.result()))

    leaves: list[Future[int]] = [pool.submit(add, 0, 1) for _ in range(size)]
    return reduced(leaves, add_later).result()


def tasks(pool: ThreadPoolExecutor, count: int) -> int:
    """Make independent adds, and return their sum."""
    return sum(future.result() for future in [pool.submit(add, 1, 1) for _ in range(count)])


def in_turn(pool: ThreadPoolExecutor, count: int) -> int:
    """Wait for each add before the next one starts."""
    return sum([pool.submit(add, i, 1).result() for i in range(count)])


def sleeps(pool: ThreadPoolExecutor, count: int) -> int:
    """Sleep in a thread per sleep."""
    for future in [pool.submit(time.sleep, sizes.SLEEP_SECONDS) for _ in range(count)]:
        future.result()
    return count


def products(pool: ThreadPoolExecutor, start: inputs.Matrix) -> inputs.Matrix:
    """Compute the graph of products by hand: each as soon as both of its factors are known."""
    values: list[inputs.Matrix] = [start] * (inputs.PRODUCTS + 1)
    waiting: list[list[int]] = [[] for _ in values]
    missing = [0] * len(values)
    pairs = inputs.factors()
    for i, pair in enumerate(pairs, 1):
        for value in {*pair} - {0}:
            waiting[value].append(i)
            missing[i] += 1

    def multiply(i: int) -> int:
        left, right = pairs[i - 1]
        values[i] = (values[left] @ values[right]) * np.float32(1 / inputs.SIZE)
        return i

    running = {pool.submit(multiply, i) for i in range(1, len(values)) if not missing[i]}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            for i in waiting[future.result()]:
                missing[i] -= 1
                if not missing[i]:
                    running.add(pool.submit(multiply, i))
    return values[-1]


def in_pool(
    threads: int, work: Callable[[ThreadPoolExecutor, int], object], size: int
) -> Callable[[], AbstractContextManager[Run]]:
    """Run work in an existing pool."""

    @contextmanager
    def make() -> Iterator[Run]:
        with ThreadPoolExecutor(threads) as pool:
            yield lambda: work(pool, size)

    return make


@contextmanager
def in_pool_at_once(
    take: Callable[[Callable[[int], object]], AbstractContextManager[Run]],
) -> Iterator[Run]:
    """Submit from eight threads to a pool of two; `take` says what is measured."""
    with ThreadPoolExecutor(2) as pool, take(lambda i: pool.submit(add, i, 1).result()) as run:
        yield run


@contextmanager
def graph() -> Iterator[Run]:
    """Run W7 in a pool of two threads."""
    start = inputs.first_factor()
    with ThreadPoolExecutor(2) as pool:
        inputs.check(products(pool, start), inputs.products(start))
        yield lambda: products(pool, start)


@contextmanager
def process() -> Iterator[Run]:
    """Measure a new process that waits for one Future."""
    yield lambda: run_process([executable, "-c", PROCESS], capture_output=True, check=True)


def _works() -> Iterator[Work]:
    name = "2 threads"
    yield Work("chain_1000", name, in_pool(2, chain, 1_000), 1_000, 2)
    yield Work("tree_1000", name, in_pool(2, tree, 1_000), 1_999, 2)
    for count in (1_000, 10_000, 100_000):
        yield Work(f"tasks_{count}", name, in_pool(2, tasks, count), count, 2)
    yield Work("submitted", name, in_pool(2, tasks, sizes.SUBMITTED), sizes.SUBMITTED, 2)
    yield Work("called", name, in_pool(2, tasks, sizes.CALLED), sizes.CALLED, 2)
    yield Work("start", name, in_pool(2, in_turn, sizes.SUBMITTED), sizes.SUBMITTED, 2)
    count = THREADS * EACH
    yield Work("eight_threads", name, lambda: in_pool_at_once(whole), count, 2)
    yield Work("longest_wait", name, lambda: in_pool_at_once(submitters), 1, 2)
    threads = sizes.SLEEPING_THREADS
    yield Work("sleeps", f"{threads} threads", in_pool(threads, sleeps, sizes.SLEEPS), cores=2)
    yield Work("products", "by hand, 2 threads", graph, cores=2)
    yield Work("process", "one Future", process)


WORKS = tuple(_works())
