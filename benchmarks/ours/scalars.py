"""W1 to W3: kernels on numbers, each with its own value, and in sync functions."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.ours import programs
from benchmarks.ours.running import QUEUES, on_each_queue, opened
from benchmarks.sizes import FIB, FIB_CALLS, FIB_RESULT, ROUNDS
from benchmarks.work import Work

CALLS = 1_000


def _trees() -> list[Work]:
    return [
        work
        for size in (1_000, 10_000)
        for work in on_each_queue(f"tree_{size}", programs.tree(size), size, 2 * size - 1)
    ]


def _chains() -> list[Work]:
    return [
        work
        for size in (1_000, 10_000)
        for work in on_each_queue(
            f"chain_{size}", programs.chain(size), size, size, queues=QUEUES[:3:2]
        )
    ]


def _without_values(
    case: str, name: str, text: str, operations: int, *arguments: int, tier: str = "interpreter"
) -> Work:
    work = Work(case, name, opened("s", text, arguments, None, tier), operations)
    return replace(work, is_equal=False)


_SYNC_CHAIN = programs.called_chain(("add",), 1_000, CALLS)
_MIXED_CHAIN = programs.called_chain(("add", "minus", "mul"), 1_000, CALLS)

WORKS = (
    *_chains(),
    *_trees(),
    Work("sync_chain", "adds", opened("s", _SYNC_CHAIN, (), 1_000 * CALLS), 1_000 * CALLS),
    Work("sync_chain", "add, minus, mul", opened("s", _MIXED_CHAIN, (), None), 1_000 * CALLS),
    *(
        Work("sync_chain", f"hot, {name}", opened("s", text, (), None, "compiled"), 1_000 * CALLS)
        for name, text in (("adds", _SYNC_CHAIN), ("add, minus, mul", _MIXED_CHAIN))
    ),
    *on_each_queue("loop", programs.LOOP, ROUNDS, ROUNDS, (ROUNDS,), QUEUES[:3:2]),
    _without_values("loop", "sync function", programs.sync_loop(ROUNDS), ROUNDS),
    _without_values("loop", "hot", programs.LOOP, ROUNDS, ROUNDS, tier="compiled"),
    *on_each_queue("fib", programs.FIB, FIB_RESULT, FIB_CALLS, (FIB,)),
    _without_values("fib", "hot", programs.FIB, FIB_CALLS, FIB, tier="compiled"),
    Work(
        "sync_fib", "sync function", opened("s", programs.SYNC_FIB, (FIB,), FIB_RESULT), FIB_CALLS
    ),
    Work(
        "sync_fib",
        "hot",
        opened("s", programs.SYNC_FIB, (FIB,), FIB_RESULT, "compiled"),
        FIB_CALLS,
    ),
)
