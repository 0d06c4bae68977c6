"""The output of `tfrt_test.benchmark`: statistics of measured runs, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfrt_runtime.host.structs import WORDS, Benchmark

BENCHMARK_NAME = 2
"""The position of the name attribute, in alphabetical order."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of a benchmark's body, in nanoseconds."""

    wall_ns: int
    cpu_ns: int


def benchmark_samples(state: int) -> list[Sample]:
    """Return the measured runs of the benchmark whose native state is at `state`."""
    benchmark = Benchmark.at(state)
    count, first = benchmark.count, benchmark.samples >> 3
    return [Sample(WORDS[first + 2 * i], WORDS[first + 2 * i + 1]) for i in range(count)]


def benchmark_report(name: str, samples: Sequence[Sample]) -> str:
    """Return the report on the measured runs of benchmark `name`, without its warm-up runs."""
    wall = sorted(sample.wall_ns for sample in samples)
    cpu = sorted(sample.cpu_ns for sample in samples)
    duration = sum(wall)
    utilization = 100 * sum(cpu) / duration if duration else 0.0
    facts = [
        ("Duration(ns)", str(duration)),
        ("Count", str(len(samples))),
        *_distribution("Time", wall),
        *_distribution("CPU", cpu),
        ("CPU utilization(percent)", f"{utilization:e}"),
    ]
    return "".join(f"BM:{name}:{label}: {value}\n" for label, value in facts)


def _distribution(what: str, ordered: Sequence[int]) -> list[tuple[str, str]]:
    labels = {"Min": 0, "50%": 50, "95%": 95, "99%": 99}
    return [(f"{what} {label}(ns)", str(percentile(ordered, p))) for label, p in labels.items()]


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the number that `percent` of an ascending sequence do not exceed; 0 if it is empty."""
    if not ordered:
        return 0
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
