"""Python itself: inline, and with a function call for each operation.

It creates no values to wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from subprocess import run as run_process
from sys import executable

from benchmarks import sizes
from benchmarks.peers.trees import reduced
from benchmarks.work import Run, Work, simply


def add(left: int, right: int) -> int:
    """Do the work of a kernel."""
    return left + right


def called(rounds: int) -> int:
    """Add by calls."""
    value = 0
    for _ in range(rounds):
        value = add(value, 1)
    return value


def inline(rounds: int) -> int:
    """Add without calls."""
    value = 0
    for _ in range(rounds):
        value += 1
    return value


def tree(size: int) -> int:
    """Add, and add the results in pairs, by calls."""
    return reduced([add(0, 1) for _ in range(size)], add)


def inline_tree(size: int) -> int:
    """Do the same as `tree`, without calls."""
    values = [0 + 1 for _ in range(size)]
    while len(values) > 1:
        pairs = [left + right for left, right in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


def source(lines: int) -> str:
    """Return a chain of adds as the source of a function."""
    body = [f"    v{i + 1} = v{i} + one\n" for i in range(lines)]
    return f"def main():\n    v0, one = 0, 1\n{''.join(body)}    return v{lines}\n"


def compiled(lines: int) -> Callable[[], object]:
    """Compile the chain with Python's own compiler."""
    text = source(lines)
    return lambda: compile(text, "benchmark", "exec")


def cell() -> None:
    """Compile and run a small chain."""
    names: dict[str, Callable[[], int]] = {}
    exec(compile(source(sizes.CELL), "benchmark", "exec"), names)  # noqa: S102 - our own text
    names["main"]()


@contextmanager
def process() -> Iterator[Run]:
    """Measure a new process that prints a sum."""
    yield lambda: run_process([executable, "-c", "print(40 + 2)"], capture_output=True, check=True)


def _chains() -> Iterator[Work]:
    for size in (1_000, 10_000):
        yield Work(f"chain_{size}", "calls", simply(partial(called, size)), size)
        yield Work(f"chain_{size}", "inline", simply(partial(inline, size)), size)
        yield Work(f"tree_{size}", "calls", simply(partial(tree, size)), 2 * size - 1)
        yield Work(f"tree_{size}", "inline", simply(partial(inline_tree, size)), 2 * size - 1)


def _without_values() -> Iterator[Work]:
    yield from _chains()
    rounds = sizes.ROUNDS // 10
    for case in ("sync_chain", "loop"):
        yield Work(case, "calls", simply(lambda: called(rounds)), rounds)
        yield Work(case, "inline", simply(lambda: inline(rounds)), rounds)
    for case in ("fib", "sync_fib", "fib_tasks", "async_fib"):
        yield Work(case, "calls", simply(lambda: sizes.fib(sizes.FIB)), sizes.FIB_CALLS)
    for case, size in (("start", sizes.SUBMITTED), ("python_kernel", sizes.KERNELS)):
        yield Work(case, "calls", simply(partial(called, size)), size)


WORKS = (
    *[replace(work, is_equal=False) for work in _without_values()],
    Work("text_10000", "compile", simply(compiled(10_000))),
    Work("text_100000", "compile", simply(compiled(100_000))),
    Work("cell", "compile and exec", simply(cell)),
    Work("process", "print", process),
)
