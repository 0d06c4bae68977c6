"""Regions in the place of the operations that hold them, and operations with other results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.passes.greedy.rewriter import Rewriter


def terminator_of(region: Region) -> Operation:
    """The last operation of a region of one block."""
    last = region.block.last_op
    assert last is not None
    return last


def replace_with_region(
    op: Operation, region: Region, rewriter: Rewriter, values: Sequence[SSAValue] = ()
) -> None:
    """Put what is in the only block of a region in the place of its operation."""
    terminator = terminator_of(region)
    rewriter.inline_before(region.block, op, values)
    rewriter.replace(op, list(terminator.operands))
    rewriter.erase(terminator)


def yield_instead(
    terminator: Operation, values: Sequence[SSAValue], rewriter: Rewriter
) -> Operation:
    """A new `scf.yield` in the place of another."""
    new = rewriter.insert(scf.YieldOp(*values), terminator)
    rewriter.erase(terminator)
    return new


def is_empty_but_for_its_end(block: Block) -> bool:
    return block.first_op is not None and block.first_op is block.last_op


def is_inside(op: Operation, region: Region) -> bool:
    """Whether the operation is in the region, at any depth."""
    holder: Operation | None = op
    while holder is not None:
        if holder.parent_region() is region:
            return True
        holder = holder.parent_op()
    return False


def region_of_value(value: SSAValue) -> Region | None:
    """The region in which the value is made."""
    owner = value.owner
    return owner.parent_region() if isinstance(owner, Operation) else owner.parent
