"""Test Dask's story of a call: times are by this machine's clock, and during the call."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from tfrt_runtime.kernels.users.stories import _Stories

WORKER = "tcp://10.0.0.2:40123"


class Client:
    """A client whose cluster returns `lines` for every task; without lines, the cluster is gone."""

    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] | None = None
        self._story = "story"

    def sync(self, asked: object, *keys: str, **options: object) -> list[tuple[Any, ...]]:
        assert asked == "story" and keys == ("a",)
        if self.lines is None:
            raise OSError("the scheduler is gone")
        return self.lines


def test_a_call_was_queued_ran_came_back_and_lost_a_worker_in_between() -> None:
    client = Client()
    stories = _Stories(client)
    moments = stories.begin(3, SimpleNamespace(key="a"))
    now = time.time()
    moments.append((time.monotonic_ns() + 10**10, "here", ""))
    client.lines = [
        ("scheduler", "a", "waiting", "processing", {}, "update-graph-1", now + 0.5),
        ("scheduler", "a", "processing", "released", {}, "handle-worker-cleanup-2", now + 1),
        (WORKER, "a", "compute-task", "released", "compute-task-3", now + 2),
        (WORKER, "a", "ready", "executing", "executing", {}, "compute-task-3", now + 3),
        (WORKER, "a", "executing", "memory", "memory", {}, "task-finished-4", now + 99),
        ("scheduler", "of another run", "processing", "released", {}, "x", now),
    ]
    ((kernel, found),) = stories.told(waits=True)
    assert kernel == 3
    assert [(what, worker) for _, what, worker in found] == [
        ("sent", ""),
        ("lost", ""),
        ("queued", WORKER),
        ("running", WORKER),
        ("back", WORKER),
        ("here", ""),
    ]
    times = [at for at, _, _ in found]
    # By the worker's clock, the call returned after its result had arrived here.
    assert times == sorted(times) and times[-2] == times[-1]
    assert abs(times[2] - times[0] - 2 * 10**9) < 10**9


def test_of_a_cluster_that_is_gone_a_call_has_its_two_ends() -> None:
    stories = _Stories(Client())
    stories.begin(0, SimpleNamespace(key="a")).append((time.monotonic_ns(), "here", ""))
    ((_, found),) = stories.told(waits=True)
    assert [what for _, what, _ in found] == ["sent", "here"]
