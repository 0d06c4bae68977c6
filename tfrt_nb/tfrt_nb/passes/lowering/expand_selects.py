"""A choice between two tokens, values or groups becomes a branch.

    %t = arith.select %c, %a, %b : !async.token   =>   %t = scf.if %c -> (!async.token) {
                                                         scf.yield %a : !async.token
                                                       } else {
                                                         scf.yield %b : !async.token
                                                       }

The counting passes take a result for a new object.  The result of a select is one of two objects that
others own; a yield says that it hands one over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.passes.control_flow import Emitter, exchange, operations_in


@dataclass(frozen=True)
class ExpandSelects(ModulePass):
    """Replaces `arith.select` of async objects."""

    name: ClassVar[str] = "async-expand-selects"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            if type(nested) is arith.SelectOp and is_async(nested.result):
                then, otherwise = _yielding(nested, nested.lhs), _yielding(nested, nested.rhs)
                choice = scf.IfOp(nested.cond, [nested.result.type], then, otherwise)
                exchange(nested, choice)


def _yielding(op: Operation, value: SSAValue) -> Region:
    block = Block()
    Emitter.at_end(block, op.location)(scf.YieldOp(value))
    return Region(block)
