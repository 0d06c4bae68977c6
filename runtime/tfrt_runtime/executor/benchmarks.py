"""What the native benchmark kernel measured, for the report."""

from __future__ import annotations

from tfrt_runtime.host.raw import WORDS
from tfrt_runtime.host.structs import Benchmark
from tfrt_runtime.kernels.basic.benchmark_report import Sample

BENCHMARK_NAME = 2
"""Which attribute is the name, in alphabetical order."""


def benchmark_samples(state: int) -> list[Sample]:
    """The measured runs of the benchmark whose native state is at `state`."""
    benchmark = Benchmark.at(state)
    count, first = benchmark.count, benchmark.samples >> 3
    return [Sample(WORDS[first + 2 * i], WORDS[first + 2 * i + 1]) for i in range(count)]
