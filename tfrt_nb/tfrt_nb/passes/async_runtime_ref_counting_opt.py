"""Pairs of add_ref and drop_ref that cancel are erased.

    async.runtime.add_ref %t {count = 1 : i64}
    call @take(%t) : (!async.token) -> ()           =>    call @take(%t) : (!async.token) -> ()
    async.runtime.drop_ref %t {count = 1 : i64}

The callee takes ownership of the caller's reference.  A pair in one block with equal counts cancels
unless the value is used between them by a call and, after that call, by anything else: the callee may
have dropped the last reference.  Each drop cancels one add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnOp
from tfrt_nb.dialects.async_.runtime import RuntimeAddRefOp, RuntimeDropRefOp
from tfrt_nb.passes.control_flow import erase, operations_in, region_of
from tfrt_nb.passes.liveness import ancestor_in
from tfrt_nb.passes.mark_explicit_counts import BY_HAND
from tfrt_nb.passes.reference_counts import async_values


@dataclass(frozen=True)
class AsyncRuntimeRefCountingOpt(ModulePass):
    """Erases pairs that cancel."""

    name: ClassVar[str] = "async-runtime-ref-counting-opt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        places = {nested: place for place, nested in enumerate(operations_in(op))}
        for value in async_values(op):
            for block, users in _users_by_block(value).items():
                for cancelled in _cancelling(block, sorted(users, key=places.__getitem__)):
                    erase(cancelled)


def _users_by_block(value: SSAValue) -> dict[Block, set[Operation]]:
    """The users in each block with a counting operation.

    A user in a nested region stands for itself where it is counted, and for its holder elsewhere.
    """
    blocks = {
        use.operation.parent: None
        for use in value.uses
        if isinstance(use.operation, RuntimeAddRefOp) and use.operation.parent is not None
    }
    return {block: _users_in(block, value) for block in blocks}


def _users_in(block: Block, value: SSAValue) -> set[Operation]:
    region = region_of(block)
    holders = set()
    for use in value.uses:
        if region.find_ancestor_block_in_region(use.operation.parent or block) is block:
            holders.add(ancestor_in(region, use.operation))
    return holders


def _cancelling(block: Block, users: Sequence[Operation]) -> list[Operation]:
    cancelled: dict[Operation, None] = {}
    for index, add in enumerate(users):
        if not isinstance(add, RuntimeAddRefOp) or BY_HAND in add.attributes:
            continue
        for later, drop in enumerate(users[index + 1 :], index + 1):
            if not isinstance(drop, RuntimeDropRefOp) or drop in cancelled:
                continue
            if BY_HAND in drop.attributes:
                continue
            if add.count == drop.count and _may_cancel(users[index + 1 : later]):
                cancelled |= {add: None, drop: None}
                break
    return list(cancelled)


def _may_cancel(between: Sequence[Operation]) -> bool:
    """Whether nothing uses the value after a call took it over."""
    called = [isinstance(op, CallOp | RuntimeSpawnOp) for op in between]
    return True not in called or all(called[called.index(True) :])
