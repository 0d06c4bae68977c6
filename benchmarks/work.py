"""A timed piece of work, and how a process takes its samples.

A module of works has a tuple `WORKS`. This module and those of the peers import nothing from
tfrt-nb, because the peers have their own environment.
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
"""The seconds for which a work is run, at least twice, before its samples are sized."""

THREADS = 8
EACH = 4_000
"""How many Python threads submit at once, and how many calls each makes.

Together, the calls take longer than a thread may keep the GIL while others wait for it.
"""

Run = Callable[[], object]


class Waited(float):
    """The seconds that a run returns if a case measures these, and not the run's duration."""


@dataclass(frozen=True, slots=True)
class Work:
    """One way of doing the work of a case.

    `make` opens the hosts, pools, and loaded programs that the work needs, checks a result, and
    returns the timed function. `operations` is how many of the case's operations one run does, and
    `cores` is on how many processors it runs. Semantics are equal if every result is a separate
    value that others can wait for, or if the case does not require that.
    """

    case: str
    name: str
    make: Callable[[], AbstractContextManager[Run]]
    operations: int = 1
    cores: int = 1
    is_equal: bool = True


def simply(run: Run) -> Callable[[], AbstractContextManager[Run]]:
    """Return a `make` for work that needs no preparation."""
    return lambda: nullcontext(run)


def calls_per_sample(run: Run) -> int:
    """Return how many calls last as long as a sample; the work is warm afterwards."""
    end = time.perf_counter() + WARM_SECONDS
    least = seconds(run)
    while True:
        least = min(least, seconds(run))
        if time.perf_counter() >= end:
            return max(1, round(SAMPLE_SECONDS / max(least, 1e-7)))


def seconds(run: Run) -> float:
    """Return how long one call takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def sample(run: Run, calls: int) -> tuple[float, float]:
    """Return the seconds of that many calls, by the clock and by the processors.

    If the last call has `Waited`, its seconds are returned instead.
    """
    gc.collect()
    cpu, started = cpu_seconds(), time.perf_counter()
    for _ in range(calls):
        returned = run()
    elapsed = time.perf_counter() - started
    return (returned if isinstance(returned, Waited) else elapsed), cpu_seconds() - cpu


def cpu_seconds() -> float:
    """Return the processor time of this process, its threads, and the processes it waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def submitters(call: Callable[[int], object]) -> Iterator[Run]:
    """Yield a run in which threads submit at once, each waiting for its call before the next one.

    `call` submits and waits. A run returns the time of the longest of all calls.
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
    """Yield the same run, but time all calls together."""
    with submitters(call) as run:
        yield lambda: float(run())  # type: ignore[arg-type]
