"""numba: machine code without values to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

from benchmarks import sizes
from benchmarks.inputs import ADDEND, ELEMENTS, FACTOR, TERMS
from benchmarks.work import Work, simply

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
jit: Jit = numba.njit
jit_parallel: Jit = numba.njit(parallel=True)


@jit
def chain(length: int, step: int) -> int:
    """Make adds that depend on each other, and that the compiler must not fold."""
    value = 0
    for i in range(length):
        value = (value + step) ^ (i & 1)
    return value


@jit
def fib(n: int) -> int:
    """Compute Fibonacci numbers by the usual recursion."""
    if n <= 1:
        return n
    result: int = fib(n - 1) + fib(n - 2)
    return result


@jit
def add(left: int, right: int) -> int:
    """Add; this function is called from Python."""
    return left + right


@jit_parallel
def parallel(out: Any) -> None:
    """Run a loop of independent, computing iterations."""
    for i in numba.prange(ELEMENTS):
        value = float(i)
        for _ in range(TERMS):
            value = value * FACTOR + ADDEND
        out[i] = value


def starts() -> None:
    """Call the function from Python."""
    for i in range(sizes.SUBMITTED):
        add(i, 1)


def _works() -> Iterator[Work]:
    yield Work(
        "sync_chain", "njit", simply(lambda: chain(sizes.ROUNDS, 1)), sizes.ROUNDS, is_equal=False
    )
    yield Work("sync_fib", "njit", simply(lambda: fib(sizes.FIB)), sizes.FIB_CALLS)
    yield Work("start", "njit", simply(starts), sizes.SUBMITTED, is_equal=False)
    out = np.zeros(ELEMENTS)
    for cores in (1, 2):
        yield Work(
            "parallel", f"prange, {cores} threads", simply(lambda: parallel(out)), cores=cores
        )


WORKS = tuple(_works())
