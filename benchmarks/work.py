"""A piece of work that is timed, and how a process takes its samples.

A module of works has a tuple `WORKS`.  This module and those of the peers import nothing of tfrt-nb: the peers
have an environment of their own.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

SAMPLE_SECONDS = 0.02
WARM_SECONDS = 0.1
"""How long a work is run, and at least twice, before its samples are sized."""

THREADS = 8
EACH = 4_000
"""How many Python threads submit at once, and how many calls each: together they take longer than a thread may keep
Python's lock while others wait for it."""

Run = Callable[[], object]


class Waited(float):
    """Seconds that a run returns where they, and not how long it took, are what a case asks for."""


@dataclass(frozen=True, slots=True)
class Work:
    """One way of doing what a case asks for.

    `make` opens what the work needs, hosts, pools and loaded programs, checks a result, and gives what is timed.
    `operations` is how many of the case's operations one run does; `cores` on how many processors it
    runs.  Equal semantics: every result is a value of its own that others can wait for, or the
    case asks for nothing of that kind.
    """

    case: str
    name: str
    make: Callable[[], AbstractContextManager[Run]]
    operations: int = 1
    cores: int = 1
    is_equal: bool = True


def simply(run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """`make` of a work that needs nothing."""
    return lambda: nullcontext(run)


def calls_per_sample(run: Run) -> int:
    """How many calls last as long as a sample; the work is warm afterwards."""
    end = time.perf_counter() + WARM_SECONDS
    least = seconds(run)
    while True:
        least = min(least, seconds(run))
        if time.perf_counter() >= end:
            return max(1, round(SAMPLE_SECONDS / max(least, 1e-7)))


def seconds(run: Run) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def sample(run: Run, calls: int) -> tuple[float, float]:
    """Seconds for that many calls, by the clock and by the processors; those that the last call has `Waited`."""
    gc.collect()
    cpu, started = cpu_seconds(), time.perf_counter()
    for _ in range(calls):
        returned = run()
    elapsed = time.perf_counter() - started
    return (returned if isinstance(returned, Waited) else elapsed), cpu_seconds() - cpu


def cpu_seconds() -> float:
    """Processor time of this process, its threads and the processes that it waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def submitters(call: Callable[[int], object]) -> Iterator[Run]:
    """Threads that submit at once, each waiting for what it has submitted before it submits the next.

    `call` is what is submitted, and the wait for it.  A run returns the longest of all calls.
    """

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
