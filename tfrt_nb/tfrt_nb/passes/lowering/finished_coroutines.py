"""Recover the parts of a coroutine that `coroutines.begin_coroutine` has made.

Passes that run in between, above all `canonicalize`, merge blocks, so that the exit taken after a
failure would lead back into the body. Here each part gets its own block again. The extra blocks
cost nothing, since LLVM merges them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation

from tfrt_nb.dialects.async_.extensions import RuntimeStackIsLowOp
from tfrt_nb.dialects.async_.runtime import (
    CoroBeginOp,
    CoroEndOp,
    CoroFreeOp,
    CoroSaveOp,
    CoroSuspendOp,
)
from tfrt_nb.passes.control_flow import Emitter, block_of, jump
from tfrt_nb.passes.lowering.coroutines import (
    PRESPLIT,
    Coroutine,
    ErrorStyle,
    freeing_block,
    given_results,
)

_STARTS = (cf.BranchOp, CoroSaveOp, RuntimeStackIsLowOp)
"""The operations after the start of a coroutine that can start its body."""


def finished_coroutine(function: FuncOp) -> Coroutine | None:
    """Return the coroutine that `begin_coroutine` made of the function, or None.

    Its style keeps errors. Blocks that another pass has merged, as `canonicalize` does, are split
    again.
    """
    if function.attributes.get("passthrough") != PRESPLIT:
        return None
    operations = [op for block in function.body.blocks for op in block.ops]
    begin = next((op for op in operations if isinstance(op, CoroBeginOp)), None)
    end = next((op for op in operations if isinstance(op, CoroEndOp)), None)
    if begin is None or end is None:
        return None
    leave = end.next_op
    assert isinstance(leave, ReturnOp)
    style = ErrorStyle(token_last=True, keep=True)
    results = given_results(function) or tuple(leave.arguments)
    coroutine = Coroutine(function, results, begin.id, begin.handle, style)
    _split_merged(coroutine, operations)
    return coroutine


def _split_merged(coroutine: Coroutine, operations: Sequence[Operation]) -> None:
    """Give the start, the body, and each of the last blocks a block of its own again."""
    body, suspend, region = None, None, coroutine.function.body
    frees, destroyed = list[Block](), set[Block]()
    for op in operations:
        match op:
            case CoroBeginOp() if not isinstance(op.next_op, _STARTS):
                body = op.next_op
            case CoroFreeOp():
                frees.append(_own_block(op))
            case CoroSuspendOp():
                destroyed.add(op.successors[-1])
            case CoroEndOp():
                suspend = _own_block(op)
    if body is not None:
        _own_block(body)
    assert suspend is not None
    frees.sort(key=destroyed.__contains__)
    frees += [freeing_block(coroutine, suspend) for _ in range(2 - len(frees))]
    last = (*frees[:2], suspend)
    if tuple(region.blocks)[-len(last) :] != last:
        for block in last:
            if block.parent is not None:
                region.detach_block(block)
            region.add_block(block)


def _own_block(op: Operation) -> Block:
    """Return the block that starts with `op`, splitting its block if necessary."""
    block = block_of(op)
    if block.first_op is op:
        return block
    rest = block.split_before(op)
    Emitter.at_end(block, op.location)(jump(rest))
    return rest
