"""Turn coroutines that never suspend back into plain functions.

An `async.func` without an await runs entirely on the caller's thread: it creates its results,
resolves them, and returns them, without a frame.

    %id = async.coro.id
    %h = async.coro.begin %id
    ...                                     ...
    async.runtime.set_available %v  =>      async.runtime.set_available %v {unseen}
    async.coro.free %id, %h
    async.coro.end %h

The caller gets the results only after they are resolved, so no other code refers to them earlier.
The pass marks such a resolution as `unseen`. In a coroutine that may suspend, this also applies to
results that are resolved before the first suspension. It does not apply to a token that the program
itself resolves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import (
    UNSEEN,
    CoroBeginOp,
    CoroEndOp,
    CoroFreeOp,
    CoroIdOp,
    CoroSuspendOp,
    RuntimeSetAvailableOp,
)
from tfrt_nb.passes.control_flow import blocks_behind, erase, operations_in, terminator_of
from tfrt_nb.passes.lowering.coroutines import PRESPLIT, RESOLVED_BY_HAND


@dataclass(frozen=True)
class ElideCoroutines(ModulePass):
    """Removes the frames of coroutines that never suspend."""

    name: ClassVar[str] = "async-elide-coroutines"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.attributes.get("passthrough") == PRESPLIT:
                _elide(function)


def _elide(function: FuncOp) -> None:
    suspending = [b for b in function.body.blocks if isinstance(b.last_op, CoroSuspendOp)]
    if suspending:
        _mark_unseen(function, set().union(*map(blocks_behind, suspending)))
        return
    del function.attributes["passthrough"]
    # Without a suspension, no branch leads to the block that destroys a suspended coroutine. The
    # entry is the first block without predecessors, so keep it.
    for block in [b for b in function.body.blocks if not b.predecessors()][1:]:
        function.body.erase_block(block)
    operations = operations_in(function)
    frame = [
        op for op in operations if isinstance(op, CoroIdOp | CoroBeginOp | CoroFreeOp | CoroEndOp)
    ]
    _mark_unseen(function, set())
    # Go in reverse order, so that the users of the id and the handle are erased first.
    for op in reversed(frame):
        erase(op)


def _mark_unseen(function: FuncOp, resumed: set[Block]) -> None:
    """Mark the operations that resolve results before any suspension.

    The caller does not have the results at that time.
    """
    if RESOLVED_BY_HAND in function.attributes:
        return
    results = set(terminator_of(function.body.blocks[-1]).operands)
    for block in function.body.blocks:
        for op in block.ops if block not in resumed else ():
            if type(op) is RuntimeSetAvailableOp and op.operand in results:
                op.attributes[UNSEEN] = UnitAttr()
