"""Dask, on its own threads: graphs that are built before the clock starts, and `delayed` calls."""

from __future__ import annotations

from collections.abc import Iterator
from operator import add
from subprocess import run as run_process
from sys import executable

import dask.threaded
from dask.base import compute
from dask.delayed import delayed
from dask.local import get_sync

from benchmarks import sizes
from benchmarks.peers.trees import reduced
from benchmarks.work import Work, simply

Graph = dict[str, tuple[object, ...]]

PROCESS = "import dask; print(dask.get({'x': (int.__add__, 40, 2)}, 'x'))"


def chain(length: int) -> Graph:
    """Return adds that depend on each other."""
    return {f"v{i + 1}": (add, f"v{i}" if i else 0, 1) for i in range(length)}


def tree(size: int) -> tuple[Graph, str]:
    """Return adds in pairs, and the name of the last."""
    graph: Graph = {f"v{i}": (add, 0, 1) for i in range(size)}

    def add_later(left: str, right: str) -> str:
        name = f"v{len(graph)}"
        graph[name] = (add, left, right)
        return name

    return graph, reduced(list(graph), add_later)


def tasks(count: int) -> Graph:
    """Return independent adds and their sum."""
    names = [f"v{i + 1}" for i in range(count)]
    return {**{name: (add, 1, 1) for name in names}, "sum": (sum, names)}


def called(count: int) -> int:
    """Make a `delayed` object for each call while the clock runs."""
    calls = [later(i) for i in range(count)]
    return sum(compute(*calls, scheduler="threads", num_workers=2))  # type: ignore[no-untyped-call]


@delayed  # type: ignore[untyped-decorator]
def later(x: int) -> int:
    """The called function."""
    return x + 1


def _works() -> Iterator[Work]:
    line = chain(1_000)
    yield Work("chain_1000", "one thread", simply(lambda: get_sync(line, "v1000")), 1_000)
    graph, last = tree(1_000)
    on_threads = dask.threaded.get
    run = simply(lambda: on_threads(graph, last, num_workers=2))
    yield Work("tree_1000", "2 threads", run, 1_999, 2)
    many = tasks(1_000)
    run = simply(lambda: on_threads(many, "sum", num_workers=2))
    yield Work("tasks_1000", "2 threads", run, 1_000, 2)
    count = sizes.CALLED // 50  # the time per call is the same
    yield Work("called", "delayed, 2 threads", simply(lambda: called(count)), count, 2)
    command = [executable, "-c", PROCESS]
    run = simply(lambda: run_process(command, capture_output=True, check=True))
    yield Work("process", "one task", run)


WORKS = tuple(_works())
