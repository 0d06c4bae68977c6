"""Ray: a remote function for each call, run by its own processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import ray

from benchmarks import sizes
from benchmarks.work import Run, Work

COUNT = sizes.CALLED // 50
"""The number of calls; with fewer, the time per call is the same."""


@contextmanager
def called() -> Iterator[Run]:
    """Start all calls, then add their results."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    later = ray.remote(increment)
    yield lambda: sum(ray.get([later.remote(i) for i in range(COUNT)]))
    ray.shutdown()


def increment(x: int) -> int:
    """The called function."""
    return x + 1


WORKS = (Work("called", "remote, 2 processes", called, COUNT, 2),)
