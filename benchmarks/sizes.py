"""Sizes of the work that ours and the peers share."""

from __future__ import annotations


def fib(n: int) -> int:
    """Compute Fibonacci numbers by the usual recursion."""
    return n if n <= 1 else fib(n - 1) + fib(n - 2)


FIB = 20
FIB_RESULT = fib(FIB)
FIB_CALLS = 2 * fib(FIB + 1) - 1
ROUNDS = 1_000_000
GROUP = 10_000
AWAITED = 2_000
SUBMITTED = 1_000
CALLED = 100_000
KERNELS = 1_000
SLEEPS = 1_000
SLEEP_SECONDS = 0.001
SLEEPING_THREADS = 64
CELL = 10
COROUTINES = 200
"""The number of coroutines in a program that is compiled."""
