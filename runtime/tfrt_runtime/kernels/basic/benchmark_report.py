"""The output of `tfrt_test.benchmark`: statistics about measured runs, as text."""

from __future__ import annotations

from collections.abc import Sequence

from tfrt_runtime.host.structs import Benchmark, words_at

BENCHMARK_NAME = 2
"""The index of the benchmark's name among the attributes, which are in alphabetical order."""


def benchmark_samples(state: int) -> tuple[list[int], list[int]]:
    """Return the wall times and the CPU times of a benchmark's runs, in nanoseconds.

    `state` is the address of the struct BENCHMARK.
    """
    benchmark = Benchmark.at(state)
    words = words_at(benchmark.samples, 2 * benchmark.count)
    return words[::2], words[1::2]


def benchmark_report(name: str, walls: Sequence[int], cpus: Sequence[int]) -> str:
    """Return the report on the measured runs of the benchmark `name`, without warm-up runs."""
    wall, cpu = sorted(walls), sorted(cpus)
    duration = sum(wall)
    utilization = 100 * sum(cpu) / duration if duration else 0.0
    facts = [
        ("Duration(ns)", str(duration)),
        ("Count", str(len(wall))),
        *_distribution("Time", wall),
        *_distribution("CPU", cpu),
        ("CPU utilization(percent)", f"{utilization:e}"),
    ]
    return "".join(f"BM:{name}:{label}: {value}\n" for label, value in facts)


def _distribution(what: str, ordered: Sequence[int]) -> list[tuple[str, str]]:
    labels = {"Min": 0, "50%": 50, "95%": 95, "99%": 99}
    return [(f"{what} {label}(ns)", str(percentile(ordered, p))) for label, p in labels.items()]


def percentile(ordered: Sequence[int], percent: int) -> int:
    """Return the number that `percent` percent of an ascending sequence's items do not exceed.

    Return 0 for an empty sequence.
    """
    return 0 if not ordered else ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
