"""Automatic reference counting on the runtime operations.

    %t = call @make() : () -> !async.token        %t = call @make() : () -> !async.token
    call @take(%t) : (!async.token) -> ()         async.runtime.add_ref %t {count = 1 : i64}
    async.runtime.await %t               =>       call @take(%t) : (!async.token) -> ()
    return                                        async.runtime.await %t
                                                  async.runtime.drop_ref %t {count = 1 : i64}
                                                  return

Calls own their async arguments, so each use in a call takes a reference; async results come with one.
The rest is in `reference_counts`.

A value is counted either here or by hand.  One that the program itself takes references of or gives up,
by `add_ref` or `drop_ref`, is left alone, and the program has to do all of the counting for it, its
ways to an error included: as in what a counting pass has counted already.  Runs after both lowerings: only then are the ways to an error known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.functions import CallOp, FuncOp, ReturnOp
from tfrt_nb.dialects.async_.runtime import RuntimeAddRefOp, RuntimeDropRefOp
from tfrt_nb.dialects.async_.tasks import (
    AddToGroupOp,
    AwaitAllOp,
    AwaitOp,
    CreateGroupOp,
    ExecuteOp,
    YieldOp,
)
from tfrt_nb.passes.control_flow import operations_in
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.reference_counts import (
    Counts,
    async_values,
    give_up_references,
    lower_carried_values,
    take_references_for_calls,
)

_COUNTS = Counts(RuntimeAddRefOp, RuntimeDropRefOp)

_WAITING = ExecuteOp | YieldOp | AwaitOp | AwaitAllOp
_HIGH_LEVEL = {
    *(ExecuteOp, YieldOp, AwaitOp, CreateGroupOp, AddToGroupOp, AwaitAllOp),
    *(FuncOp, ReturnOp, CallOp),
}


@dataclass(frozen=True)
class AsyncRuntimeRefCounting(ModulePass):
    """Adds `async.runtime.add_ref` and `async.runtime.drop_ref`.

    `share_exits` lets ways to an error that give up many references do so in common.
    """

    name: ClassVar[str] = "async-runtime-ref-counting"

    share_exits: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_high_level_operations(op)
        lower_carried_values(op)
        values = [value for value in async_values(op) if not _is_counted_by_hand(value)]
        for value in values:
            take_references_for_calls(value, _COUNTS)
        give_up_references(values, _COUNTS, sharing_exits=self.share_exits)


def _is_counted_by_hand(value: SSAValue) -> bool:
    return any(type(use.operation) in (RuntimeAddRefOp, RuntimeDropRefOp) for use in value.uses)


def refuse_high_level_operations(module: ModuleOp) -> None:
    """Counting is about threads of control, which tasks hide.

    The first task or await is named, if there is one, as MLIR does.
    """
    if not any(type(op) in _HIGH_LEVEL for op in operations_in(module)):
        return
    found = [op for op in module.walk(region_first=True) if type(op) in _HIGH_LEVEL]
    first = next((op for op in found if isinstance(op, _WAITING)), found[0])
    fail(first, "async operations must be lowered to async runtime operations")
