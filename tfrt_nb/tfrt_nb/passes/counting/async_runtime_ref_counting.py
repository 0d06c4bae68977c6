"""Count references automatically on the runtime operations.

    %t = call @make() : () -> !async.token        %t = call @make() : () -> !async.token
    call @take(%t) : (!async.token) -> ()         async.runtime.add_ref %t {count = 1 : i64}
    async.runtime.await %t               =>       call @take(%t) : (!async.token) -> ()
    return                                        async.runtime.await %t
                                                  async.runtime.drop_ref %t {count = 1 : i64}

Calls own their async arguments, so each use in a call takes a reference; async results come with
one. `reference_counts` does the rest.

As in MLIR, the pass counts all values, including those whose references the program itself adds and
drops. With `leave_counted`, it skips these, and the program must do all of the counting for them,
as after a counting pass. The pass runs after both lowerings, because only then are the paths to
errors known.

Some of a program's counts are meant in addition to the automatic ones.

    %t = async.execute { ... }
    async.runtime.add_ref %t {count = 1 : i64} : !async.token      <- on top
    async.await %t : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token     <- on top

A program with tasks and awaits has not been counted yet: as in MLIR's pipelines, counting comes
after their lowering and covers every value. References that such a program adds and drops itself
are in addition to these. A program that has only runtime operations may be the result of a counting
pass. If it drops more references to a value than it adds, or passes one on, the value is counted by
hand, and the pass adds nothing.

The policy-based pass counts by rule: it adds one drop at the place where, by convention, a value is
last needed.

It assumes that each token is awaited or added to a group once, that each value and group is awaited
once, and that nothing is passed to calls. It drops the reference

- right after the definition, if there is no use;
- after `is_error` of a token or group (the await is over);
- after `load` of a value;
- after `add_to_group` of a token.

It needs no liveness analysis, but is only as correct as its assumptions: when an awaited value is
in error, its load is never reached, and the reference leaks. `async-runtime-ref-counting` needs no
assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_ import proposal
from tfrt_nb.dialects.async_.extensions import RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    OF_OWN,
    ON_TOP,
    RuntimeAddRefOp,
    RuntimeAddToGroupOp,
    RuntimeCreateOp,
    RuntimeDropRefOp,
    RuntimeIsErrorOp,
    RuntimeLoadOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import TokenType, ValueType, is_async, operations_of
from tfrt_nb.passes.control_flow import Emitter, fail, operations_in
from tfrt_nb.passes.counting.reference_counts import (
    Counts,
    async_values,
    drop_references,
    lower_carried_values,
    take_references_for_calls,
)
from tfrt_nb.passes.lowering.outline import EARLY_COUNTING

_COUNTING = frozenset({RuntimeAddRefOp, RuntimeDropRefOp})
_NOT_COUNTED_YET = frozenset({AwaitAllOp, AwaitOp, ExecuteOp, RuntimeSpawnOp, RuntimeSpawnIntoOp})
"""The operations of a program that is not counted yet. Programs never contain spawns; these were
tasks (`speed.copying`).
"""


@dataclass(frozen=True)
class MarkExplicitCounts(ModulePass):
    """Marks the `async.runtime.add_ref` and `drop_ref` of a program that is not counted yet."""

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
    """Return whether the program does all of the counting for the value, or for a source of the
    select that produces it.
    """
    users = (use.operation for use in value.uses)
    if any(type(user) in _COUNTING and ON_TOP not in user.attributes for user in users):
        return True
    return isinstance(select := value.owner, arith.SelectOp) and (
        is_counted_by_hand(select.lhs) or is_counted_by_hand(select.rhs)
    )


def _is_balanced(value: SSAValue) -> bool:
    """Return whether as many references are added as dropped, and no reference is passed on.

    The result of a select has no reference of its own, so its sources decide whether the program
    counts it.
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
            case op if isinstance(op, PlainCallOp) or op.has_trait(IsTerminator):
                return False
    return balance == 0


_COUNTS = Counts(RuntimeAddRefOp, RuntimeDropRefOp)

_WAITING = (ExecuteOp, YieldOp, AwaitOp, AwaitAllOp, *operations_of(proposal))
"""Tasks and awaits, and the operations of the 2020 proposal, which become tasks and awaits."""


@dataclass(frozen=True)
class AsyncRuntimeRefCounting(ModulePass):
    """Adds `async.runtime.add_ref` and `async.runtime.drop_ref`.

    With `share_exits`, paths to an error that drop many references share the code that does.
    `leave_counted` skips values that are counted by hand.
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
    """Reject tasks, awaits, and async calls: counting follows threads of control, which tasks hide,
    and calls that own their arguments.

    The error names the first task or await if one exists, as MLIR does.
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


@dataclass(frozen=True)
class AsyncRuntimePolicyBasedRefCounting(ModulePass):
    """Adds `async.runtime.drop_ref` by rule."""

    name: ClassVar[str] = "async-runtime-policy-based-ref-counting"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_high_level_operations(op)
        for value in async_values(op):
            for emit in _places(value):
                emit(RuntimeDropRefOp(value))


def _places(value: SSAValue) -> list[Emitter]:
    if value.first_use is None:
        owner = value.owner
        if not isinstance(owner, Block):
            return [Emitter.behind(owner)]
        assert owner.first_op is not None
        return [Emitter.at_start(owner, owner.first_op.location)]
    users = [use.operation for use in value.uses]
    return [Emitter.behind(user) for user in users if _gives_up(user, value)]


def _gives_up(user: Operation, value: SSAValue) -> bool:
    match user:
        case RuntimeIsErrorOp():
            return not isinstance(value.type, ValueType)
        case RuntimeLoadOp():
            return True
        case RuntimeAddToGroupOp():
            return user.operand is value and isinstance(value.type, TokenType)
        case _:
            return False
