"""The table of cases: what is measured, and in which unit.

Each peer's module says how it does the work.
"""

from __future__ import annotations

from dataclasses import dataclass

UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Case:
    """A case; `unit` starts with a unit of time. Only `make bench-all` measures long cases."""

    key: str
    row: str
    title: str
    unit: str
    group: str
    is_long: bool = False

    @property
    def scale(self) -> float:
        """The factor from seconds to the unit."""
        return UNITS[self.unit.partition(" ")[0]]


CASES = (
    Case("chain_1000", "W1", "1 000 adds, each of the result before", "ns per add", "scalars"),
    Case("chain_10000", "W1", "10 000 adds, each of the result before", "ns per add", "scalars"),
    Case("sync_chain", "W1 sync", "1 000 adds in a sync function", "ns per add", "scalars"),
    Case("tree_1000", "W2", "1 000 adds, their results added in pairs", "ns per add", "scalars"),
    Case("tree_10000", "W2", "10 000 adds, their results added in pairs", "ns per add", "scalars"),
    Case("loop", "repeat", "a loop that adds one", "ns per round", "scalars"),
    Case("fib", "W3", "recursive fib(20), a call each", "ns per call", "scalars"),
    Case("sync_fib", "W3 sync", "recursive fib(20) in a sync function", "ns per call", "scalars"),
    Case("fib_tasks", "W3 tasks", "recursive fib(20), a task each", "ns per call", "tasks"),
    Case("async_fib", "W3 async", "recursive fib(20), an awaitable each", "ns per call", "tasks"),
    Case("tasks_1000", "W4", "1 000 independent tasks and their sum", "ns per task", "tasks"),
    Case("tasks_10000", "W4", "10 000 independent tasks and their sum", "ns per task", "tasks"),
    Case("tasks_100000", "W4", "100 000 independent tasks and their sum", "ns per task", "tasks"),
    Case("submitted", "W4 Python", "1 000 adds, submitted from Python", "ns per task", "tasks"),
    Case("group", "async group", "10 000 tasks in a group, awaited", "ns per task", "tasks"),
    Case("awaited", "async await", "2 000 tasks, each awaited at once", "ns per task", "tasks"),
    Case("fast_path", "shortcut", "recursive fib(20), an awaitable each", "ns per call", "tasks"),
    Case("eight_threads", "threads", "runs of eight threads of Python", "ns per run", "tasks"),
    Case("longest_wait", "threads", "the longest wait of one of them", "ms", "tasks"),
    Case("start", "start", "one add, from its start to its result", "ns per call", "tasks"),
    Case("python_kernel", "kernel", "1 000 Python functions in a chain", "ns per kernel", "tasks"),
    Case("sleeps", "W5", "1 000 sleeps of 1 ms on 64 threads", "ms", "tasks"),
    Case("beside_sleeps", "W5", "a chain of 10 000 adds while others sleep", "us", "tasks"),
    # The last of the tasks, because it fragments the heap, which would slow down later tasks.
    Case("called", "calls", "100 000 calls of a Python function at once", "ns per call", "tasks"),
    Case("perceptron_1", "W6", "perceptron 784-512-256-10, one image", "us", "tensors"),
    Case("perceptron_64", "W6", "perceptron 784-512-256-10, 64 images", "us", "tensors"),
    Case("products", "W7", "64 products of 256 x 256 in a random graph", "ms", "tensors"),
    Case("parallel", "parallel loop", "65 536 elements, 100 multiply-adds each", "ms", "tensors"),
    Case("text_10000", "W8", "10 000 plain lines to a program", "ms", "texts"),
    Case("text_calls", "W8", "10 000 lines with calls and ifs", "ms", "texts"),
    Case("text_loc", "W8", "10 000 lines with loc()", "ms", "texts"),
    Case("text_async", "W8", "10 000 lines of an async program", "ms", "texts"),
    Case("bef_10000", "W8", "BEF of 10 000 operations to a program", "ms", "texts"),
    Case("text_100000", "W8", "100 000 plain lines to a program", "ms", "texts", is_long=True),
    Case("bef_100000", "W8", "BEF of 100 000 operations", "ms", "texts", is_long=True),
    Case("process", "W9", "a new process that runs a small program", "ms", "texts"),
    Case("cell", "cell", "text of 10 kernels to its result", "ms", "texts"),
    Case("coroutines", "compile", "200 coroutines to machine code", "us each", "texts"),
    Case("same_coroutines", "compile", "200 of one body, other constants", "us each", "texts"),
)
