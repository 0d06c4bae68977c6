"""Reference counting by rule: one drop at the place where a value is last needed, by convention.

Assumes that each token is awaited or added to a group once, and each value and group awaited once,
and that nothing is passed to calls.  Then the reference is dropped

- right after the definition, if there is no use;
- after `is_error` of a token or group (the await is over);
- after `load` of a value;
- after `add_to_group` of a token.

It needs no liveness, and is as correct as its assumptions: where a value is awaited and found in
error its load is never reached and the reference stays.  `async-runtime-ref-counting` needs no
assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import (
    RuntimeAddToGroupOp,
    RuntimeDropRefOp,
    RuntimeIsErrorOp,
    RuntimeLoadOp,
)
from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.passes.control_flow import Emitter
from tfrt_nb.passes.counting.async_runtime_ref_counting import refuse_high_level_operations
from tfrt_nb.passes.counting.reference_counts import async_values


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
