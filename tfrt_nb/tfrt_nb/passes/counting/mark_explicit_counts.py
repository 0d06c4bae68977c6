"""Mark the counts that a program adds on top of the automatic ones.

    %t = async.execute { ... }
    async.runtime.add_ref %t {count = 1 : i64} : !async.token      <- on top
    async.await %t : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token     <- on top

A program with tasks and awaits has not been counted yet: counting comes after their lowering, as in
MLIR's pipelines, and counts every value.  References that such a program adds and drops by itself
come on top of that.  A program of runtime operations only may be the result of a counting pass: a
value of which it drops more than it adds, or that it hands on, is counted by hand, and nothing is
added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import FuncOp
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    OF_OWN,
    ON_TOP,
    RuntimeAddRefOp,
    RuntimeCreateOp,
    RuntimeDropRefOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp
from tfrt_nb.passes.control_flow import operations_in
from tfrt_nb.passes.lowering.task_counts import EARLY_COUNTING

_COUNTING = frozenset({RuntimeAddRefOp, RuntimeDropRefOp})
_NOT_COUNTED_YET = frozenset(
    {AwaitAllOp, AwaitOp, ExecuteOp, FuncOp, RuntimeSpawnOp, RuntimeSpawnIntoOp}
)
"""Programs have no spawns of their own: these were tasks (`speed.copying`)."""


@dataclass(frozen=True)
class MarkExplicitCounts(ModulePass):
    """Marks `async.runtime.add_ref` and `drop_ref` of a program that is not counted yet."""

    name: ClassVar[str] = "async-mark-explicit-counts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        counts = [op for op in operations if type(op) in _COUNTING]
        is_lowered = not any(type(op) in _NOT_COUNTED_YET for op in operations)
        for count in operations:
            if type(count) in _COUNTING | EARLY_COUNTING:
                count.attributes[BY_HAND] = UnitAttr()
        for count in counts:
            if not is_lowered or _is_balanced(count.operands[0]):
                count.attributes[ON_TOP] = UnitAttr()
                is_own = isinstance(count.operands[0].owner, RuntimeCreateOp)
                if isinstance(count, RuntimeDropRefOp) and is_own and count.count.value.data == 1:
                    count.attributes[OF_OWN] = UnitAttr()


def is_counted_by_hand(value: SSAValue) -> bool:
    """Whether the program does all of the counting for the value, or for one that a select makes it
    of.
    """
    users = (use.operation for use in value.uses)
    if any(type(user) in _COUNTING and ON_TOP not in user.attributes for user in users):
        return True
    return isinstance(select := value.owner, arith.SelectOp) and (
        is_counted_by_hand(select.lhs) or is_counted_by_hand(select.rhs)
    )


def _is_balanced(value: SSAValue) -> bool:
    """Whether as many references are added as dropped, and no reference is handed on.

    The result of a select comes without a reference: its sources say whether the program counts it.
    """
    if isinstance(select := value.owner, arith.SelectOp):
        return _is_balanced(select.lhs) and _is_balanced(select.rhs)
    balance = 0
    for use in value.uses:
        match use.operation:
            case RuntimeAddRefOp() as op:
                balance += op.count.value.data
            case RuntimeDropRefOp() as op:
                balance -= op.count.value.data
            case op if isinstance(op, CallOp) or op.has_trait(IsTerminator):
                return False
            case _:
                pass
    return balance == 0
