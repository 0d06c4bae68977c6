"""Threads of Python that submit at once, each waiting for what it has submitted before it submits the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.work import Run, Waited

THREADS = 8
EACH = 4_000
"""Together they take longer than a thread may keep Python's lock while others wait for it."""


@contextmanager
def submitters(call: Callable[[int], object]) -> Iterator[Run]:
    """`call` is what is submitted, and the wait for it.  A run returns the longest of all calls."""

    def submit() -> float:
        longest = 0.0
        for i in range(EACH):
            started = time.perf_counter()
            call(i)
            longest = max(longest, time.perf_counter() - started)
        return longest

    with ThreadPoolExecutor(THREADS) as pool:
        yield lambda: Waited(
            max([done.result() for done in [pool.submit(submit) for _ in range(THREADS)]])
        )


@contextmanager
def whole(call: Callable[[int], object]) -> Iterator[Run]:
    """The same, where all calls together are timed."""
    with submitters(call) as run:
        yield lambda: float(run())  # type: ignore[arg-type]
