"""Find all orders in which a host function may print.

A kernel may run when its operands are available, so the possible orders are the linear extensions
of the operations' dependencies. Calls and loops are not followed: each counts as one operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from tfrt_runtime.bef.records import BefFunction

MAX_ORDERS = 5000


def linear_orders(function: BefFunction, chosen: list[int]) -> set[tuple[int, ...]]:
    """Return every order of the chosen kernels, given by their positions in the program.

    The result has at most `MAX_ORDERS` orders. An operand that no kernel produces is always
    available.
    """
    before = _ancestors(function)
    needed = {at: before[at] & set(chosen) for at in chosen}
    return set(islice(_extensions(chosen, needed, ()), MAX_ORDERS))


def returning(function: BefFunction, registers: tuple[int, ...]) -> BefFunction:
    """Return the same function with these registers as its results.

    The function must have register types, which functions from source always have.
    """
    assert function.register_types is not None
    change = Counter(registers)
    change.subtract(function.result_registers)
    return replace(
        function,
        result_registers=registers,
        result_types=tuple(function.register_types[register] for register in registers),
        use_counts=tuple(count + change[at] for at, count in enumerate(function.use_counts)),
    )


def needed(function: BefFunction, kernel: str) -> int:
    """Return how many uses of a kernel the function's results wait for."""
    kernels, before = function.kernels, _ancestors(function)
    results = {*function.result_registers}
    makers = [at for at, one in enumerate(kernels) if results & {*one.results}]
    return sum(kernels[at].name == kernel for at in {*makers}.union(*(before[at] for at in makers)))


def is_print(kernel: str) -> bool:
    """Return whether the kernel prints its operand."""
    return ".print" in kernel


def _ancestors(function: BefFunction) -> list[set[int]]:
    """Return, for each kernel, the kernels that it waits for, directly or through others."""
    makers = {register: at for at, one in enumerate(function.kernels) for register in one.results}
    before: list[set[int]] = []
    for kernel in function.kernels:
        found: set[int] = set()
        for register in kernel.arguments:
            if (maker := makers.get(register)) is not None:
                found |= {maker} | before[maker]
        before.append(found)
    return before


def _extensions(
    chosen: list[int], needed: dict[int, set[int]], done: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yield the orders that start with `done`."""
    if len(done) == len(chosen):
        yield done
    for at in chosen:
        if at not in done and needed[at] <= {*done}:
            yield from _extensions(chosen, needed, (*done, at))
