"""Automatic reference counting on the runtime operations.

    %t = call @make() : () -> !async.token        %t = call @make() : () -> !async.token
    call @take(%t) : (!async.token) -> ()         async.runtime.add_ref %t {count = 1 : i64}
    async.runtime.await %t               =>       call @take(%t) : (!async.token) -> ()
    return                                        async.runtime.await %t
                                                  async.runtime.drop_ref %t {count = 1 : i64}

Return:
Calls own their async arguments, so each use in a call takes a reference; async results come with
one. The rest is in `reference_counts`.

All values are counted, also those that the program adds and drops references of, as in MLIR.  With
`leave_counted` such a value is left alone, and the program has to do all of the counting for it, as
after a counting pass; see `mark_explicit_counts`.  Runs after both lowerings: only then are the
ways to an error known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_ import proposal
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import RuntimeAddRefOp, RuntimeDropRefOp
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import is_async, operations_of
from tfrt_nb.passes.control_flow import fail, operations_in
from tfrt_nb.passes.counting.mark_explicit_counts import is_counted_by_hand
from tfrt_nb.passes.counting.reference_counts import (
    Counts,
    async_values,
    drop_references,
    lower_carried_values,
    take_references_for_calls,
)

_COUNTS = Counts(RuntimeAddRefOp, RuntimeDropRefOp)

_WAITING = (ExecuteOp, YieldOp, AwaitOp, AwaitAllOp, *operations_of(proposal))
"""Tasks and awaits, and the operations of the 2020 proposal, which become tasks and awaits."""


@dataclass(frozen=True)
class AsyncRuntimeRefCounting(ModulePass):
    """Adds `async.runtime.add_ref` and `async.runtime.drop_ref`.

    `share_exits` lets ways to an error that drop many references do so in common; `leave_counted`
    leaves values alone that are counted by hand.
    """

    name: ClassVar[str] = "async-runtime-ref-counting"

    share_exits: bool = False
    leave_counted: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_high_level_operations(op)
        lower_carried_values(op)
        values = async_values(op)
        if self.leave_counted:
            values = [value for value in values if not is_counted_by_hand(value)]
        for value in values:
            take_references_for_calls(value, _COUNTS)
        drop_references(values, _COUNTS, sharing_exits=self.share_exits)


def refuse_high_level_operations(module: ModuleOp) -> None:
    """Counting is about threads of control, which tasks hide, and about calls that own arguments.

    The first task or await is named, if there is one, as MLIR does.
    """
    operations = operations_in(module)
    found = any(type(op) in _WAITING for op in operations)
    if not found and not any(
        type(op) is CallOp and any(map(is_async, op.operands)) for op in operations
    ):
        return
    kinds = _WAITING if found else (CallOp,)
    first = next(op for op in module.walk(region_first=True) if type(op) in kinds)
    fail(first, "async operations must be lowered to async runtime operations")
