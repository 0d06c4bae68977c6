"""The rest of a function, from one of its operations on, as a function of what it needs.

    ^big:                                          async.func private @fib_continuation(%w: i64, %x: ...) {
      %x = async.await %v : ...                      %y = async.await %w : ...
      %y = async.await %w : ...          =>          %r = arith.addi %x, %y : i64
      %r = arith.addi %x, %y : i64                   return %r : i64
      return %r : i64                              }

The function stays as it is.  Control must not come back to the block that the continuation begins in: what is
made there and used behind it would have two origins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.functions import FuncOp
from tfrt_nb.passes.control_flow import region_of, terminator_of
from tfrt_nb.passes.lowering.outline import captured_values, replace_uses_inside, sink_constants


def blocks_behind(block: Block) -> set[Block]:
    """The blocks that control may come to from the end of the block."""
    reached: set[Block] = set()
    pending = list(terminator_of(block).successors)
    while pending:
        target = pending.pop()
        if target not in reached:
            reached.add(target)
            pending.extend(terminator_of(target).successors)
    return reached


def operations_from(start: Operation) -> Iterator[Operation]:
    """The operations of the block from `start` on."""
    op: Operation | None = start
    while op is not None:
        yield op
        op = op.next_op


def continuation_of(
    function: FuncOp, start: Operation, symbol: str
) -> tuple[FuncOp, list[SSAValue]]:
    """A private function that does what `function` does from `start` on, and what to call it with."""
    block = start.parent
    assert block is not None
    body = _region_from(start, block, blocks_behind(block))
    captured = captured_values(body)
    if sink_constants(body, captured):
        captured = captured_values(body)
    entry = body.blocks[0]
    arguments: dict[SSAValue, SSAValue] = {}
    for value in captured:
        argument = entry.insert_arg(value.type, len(entry.args))
        argument.name_hint = value.name_hint
        arguments[value] = argument
    replace_uses_inside(body, arguments)
    type_ = FunctionType.from_lists(entry.arg_types, function.function_type.outputs.data)
    continuation = FuncOp(symbol, type_, body, StringAttr("private"))
    continuation.location = function.location
    return continuation, captured


def _region_from(start: Operation, block: Block, behind: Collection[Block]) -> Region:
    """Copies of the operations from `start` on, and of the blocks behind."""
    originals = [other for other in region_of(block).blocks if other in behind]
    copies = [Block(arg_types=original.arg_types) for original in originals]
    values: dict[SSAValue, SSAValue] = {}
    for original, copy in zip(originals, copies, strict=True):
        values.update(zip(original.args, copy.args, strict=True))
    # Copying learns the blocks in the regions of operations, too.
    blocks = dict(zip(originals, copies, strict=True))
    entry = Block()
    for op in operations_from(start):
        entry.add_op(copied(op, values, blocks))
    for original, copy in zip(originals, copies, strict=True):
        for op in original.ops:
            copy.add_op(copied(op, values, blocks))
    body = Region([entry, *copies])
    # What is used in a block may be made in one that was copied later.
    replace_uses_inside(body, values)
    return body


def copied(
    op: Operation, values: dict[SSAValue, SSAValue], blocks: dict[Block, Block]
) -> Operation:
    """A copy at the same place of the source that uses what the mappings give; they learn its results."""
    copy = op.clone(values, blocks)
    copy.location = op.location
    if op.regions:
        for nested, inner in zip(op.walk(), copy.walk(), strict=True):
            inner.location = nested.location
    return copy
