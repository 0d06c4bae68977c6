"""Timing of variants side by side.

The variants of a case take turns, so that whatever else the machine does meets all of them alike.
A sample is the mean of enough calls in a row to last a few milliseconds.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

SAMPLE_SECONDS = 0.01
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of doing the work of a case; `run` does it once.

    `operations` is how many of the case's operations one call of `run` does.
    """

    name: str
    peer: str
    run: Callable[[], object]
    operations: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """Variants that do the same work.  `unit` is a time unit and what it is for: "ns per kernel"."""

    name: str
    title: str
    unit: str
    variants: tuple[Variant, ...]
    samples: int = 11


@dataclass(frozen=True, slots=True)
class Result:
    """What a variant took per operation, in `unit`; `cpu` is the least processor time, all threads."""

    case: str
    variant: str
    peer: str
    unit: str
    min: float
    median: float
    cpu: float
    runs: int

    def as_json(self) -> dict[str, str | float]:
        """The fields, with as many digits as mean something."""
        return {
            name: float(f"{value:.4g}") if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def measure(case: Case) -> list[Result]:
    """A result per variant, in the case's order."""
    calls = [calls_per_sample(variant) for variant in case.variants]
    samples: list[list[tuple[float, float]]] = [[] for _ in case.variants]
    for _ in range(case.samples):
        for variant, count, taken in zip(case.variants, calls, samples, strict=True):
            taken.append(sample(variant, count))
    return [
        summary(case, variant, taken) for variant, taken in zip(case.variants, samples, strict=True)
    ]


def calls_per_sample(variant: Variant) -> int:
    """How many calls make a sample; also runs the variant once, so that it is warm."""
    variant.run()
    started = time.perf_counter()
    variant.run()
    return max(1, round(SAMPLE_SECONDS / (time.perf_counter() - started)))


def sample(variant: Variant, calls: int) -> tuple[float, float]:
    """Seconds per operation, by the clock and by the processors."""
    gc.collect()
    cpu, started = cpu_seconds(), time.perf_counter()
    for _ in range(calls):
        variant.run()
    elapsed, used = time.perf_counter() - started, cpu_seconds() - cpu
    operations = calls * variant.operations
    return elapsed / operations, used / operations


def cpu_seconds() -> float:
    """Processor time of this process, its threads and the processes that it waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def summary(case: Case, variant: Variant, taken: Sequence[tuple[float, float]]) -> Result:
    """The samples of a variant as one result."""
    scale = UNITS[case.unit.partition(" ")[0]]
    clock = [elapsed * scale for elapsed, _ in taken]
    return Result(
        case=case.name,
        variant=variant.name,
        peer=variant.peer,
        unit=case.unit,
        min=min(clock),
        median=statistics.median(clock),
        cpu=min(used for _, used in taken) * scale,
        runs=len(taken),
    )
