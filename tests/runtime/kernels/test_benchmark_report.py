"""Test the statistics of a benchmark as text."""

from __future__ import annotations

import pytest

from tfrt_runtime.kernels.basic.benchmark_report import benchmark_report, percentile


def test_a_report_has_eleven_lines() -> None:
    walls = [180, *[200] * 18, 360]
    cpus = [0] * 3 + [1000] * 17
    assert benchmark_report("triple", walls, cpus) == (
        "BM:triple:Duration(ns): 4140\n"
        "BM:triple:Count: 20\n"
        "BM:triple:Time Min(ns): 180\n"
        "BM:triple:Time 50%(ns): 200\n"
        "BM:triple:Time 95%(ns): 360\n"
        "BM:triple:Time 99%(ns): 360\n"
        "BM:triple:CPU Min(ns): 0\n"
        "BM:triple:CPU 50%(ns): 1000\n"
        "BM:triple:CPU 95%(ns): 1000\n"
        "BM:triple:CPU 99%(ns): 1000\n"
        "BM:triple:CPU utilization(percent): 4.106280e+02\n"
    )


def test_a_benchmark_without_runs_reports_zeros() -> None:
    lines = benchmark_report("none", [], []).splitlines()
    assert lines[1] == "BM:none:Count: 0"
    assert lines[-1] == "BM:none:CPU utilization(percent): 0.000000e+00"


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 3), (99, 4), (100, 4)])
def test_percentiles_of_four_numbers(percent: int, value: int) -> None:
    assert percentile([1, 2, 3, 4], percent) == value
