"""Pairs of add_ref and drop_ref that cancel are erased.

    async.runtime.add_ref %t {count = 1 : i64}
    call @take(%t) : (!async.token) -> ()           =>    call @take(%t) : (!async.token) -> ()
    async.runtime.drop_ref %t {count = 1 : i64}

The callee takes ownership of the caller's reference.  A pair in one block with equal counts cancels
unless the value is used between them by a call and, after that call, by anything else: the callee
may have dropped the last reference.  Each drop cancels one add.  The reference that the result of a
select takes stays.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar, TypeAlias, TypeGuard

from xdsl.context import Context
from xdsl.dialects.arith import SelectOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    AddRefOp,
    DropRefOp,
    RuntimeAddRefOp,
    RuntimeDropRefOp,
)
from tfrt_nb.passes.control_flow import erase, operations_in, region_of
from tfrt_nb.passes.counting.liveness import ancestor_in
from tfrt_nb.passes.counting.reference_counts import CALLS, async_values

_Counting: TypeAlias = AddRefOp | RuntimeAddRefOp | DropRefOp | RuntimeDropRefOp


@dataclass(frozen=True)
class AsyncRuntimeRefCountingOpt(ModulePass):
    """Erases pairs that cancel."""

    name: ClassVar[str] = "async-runtime-ref-counting-opt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_pairs(op, Pairs(RuntimeAddRefOp, RuntimeDropRefOp, CALLS))


@dataclass(frozen=True)
class Pairs:
    """The operations that add and drop references, and those that take ownership of a reference."""

    add: type[AddRefOp | RuntimeAddRefOp]
    drop: type[DropRefOp | RuntimeDropRefOp]
    takers: AbstractSet[type[Operation]]


def erase_pairs(module: ModuleOp, pairs: Pairs) -> None:
    """Erase each pair of one block that cancels."""
    places = {nested: place for place, nested in enumerate(operations_in(module))}
    for value in async_values(module):
        if isinstance(value.owner, SelectOp):
            # It is one of its sources, which may be dropped between the two: it has no other
            # reference.
            continue
        for users in _users_by_block(value, pairs).values():
            for cancelled in _cancelling(sorted(users, key=places.__getitem__), pairs):
                erase(cancelled)


def _users_by_block(value: SSAValue, pairs: Pairs) -> dict[Block, set[Operation]]:
    """The users in each block with a counting operation.

    A user in a nested region stands for itself where it is counted, and for its holder elsewhere.
    """
    blocks = {
        use.operation.parent: None
        for use in value.uses
        if isinstance(use.operation, pairs.add) and use.operation.parent is not None
    }
    return {block: _users_in(block, value) for block in blocks}


def _users_in(block: Block, value: SSAValue) -> set[Operation]:
    region = region_of(block)
    holders = set()
    for use in value.uses:
        if region.find_ancestor_block_in_region(use.operation.parent or block) is block:
            holders.add(ancestor_in(region, use.operation))
    return holders


def _cancelling(users: Sequence[Operation], pairs: Pairs) -> list[Operation]:
    """The counting operations of pairs that cancel, of all users of a value in the order of a
    block.
    """
    cancelled: list[Operation] = []
    drops = [(at, op) for at, op in enumerate(users) if _is_counted(op, pairs.drop)]
    ends = _ends(users, pairs.takers)
    for index, add in enumerate(users):
        if not _is_counted(add, pairs.add):
            continue
        for number in range(bisect(drops, index, key=itemgetter(0)), len(drops)):
            place, drop = drops[number]
            if place > ends[index]:
                break
            if add.count == drop.count:
                cancelled += (add, drop)
                del drops[number]
                break
    return cancelled


def _is_counted(op: Operation, kind: type[_Counting]) -> TypeGuard[_Counting]:
    """Whether the operation is of this kind, and not one that the user wrote."""
    return type(op) is kind and BY_HAND not in op.attributes


def _ends(users: Sequence[Operation], takers: AbstractSet[type[Operation]]) -> list[int]:
    """For each user the place of the first one after it that uses the value after an operation
    took ownership of a reference: no pair may have that between its two.
    """
    first_other = end = len(users)
    ends = []
    for place in range(len(users) - 1, -1, -1):
        ends.append(end)
        user = users[place]
        if type(user) in takers:
            end = first_other
        else:
            first_other = place
            # What a holder takes in its regions, it may use there afterwards.
            if any(type(nested) in takers for nested in operations_in(user)):
                end = place
    return ends[::-1]
