"""What branches pass to the arguments of blocks, read and changed in place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use

from tfrt_nb.dialects.branches import branch_operands

_OPERANDS_IN_FRONT = {"cf.br": 0, "cf.cond_br": 1, "cf.switch": 1}


def is_branch(op: Operation) -> bool:
    """Whether it is known what the operation passes to its successors."""
    return op.name in _OPERANDS_IN_FRONT


def passed_by(op: Operation) -> list[list[SSAValue]]:
    """What a branch passes, for each of its successors."""
    return [list(branch_operands(op, edge)) for edge in range(len(op.successors))]


def argument_of(use: Use) -> BlockArgument | None:
    """The argument of a block that gets this operand of a branch."""
    place = use.index - _OPERANDS_IN_FRONT.get(use.operation.name, len(use.operation.operands))
    if place < 0:
        return None
    for edge, successor in enumerate(use.operation.successors):
        count = len(branch_operands(use.operation, edge))
        if place < count:
            return successor.args[place]
        place -= count
    return None


def pass_instead(op: Operation, passed: Sequence[Sequence[SSAValue]]) -> None:
    """Let a branch pass other values to its successors."""
    in_front = list(op.operands)[: _OPERANDS_IN_FRONT[op.name]]
    op.operands = [*in_front, *(value for values in passed for value in values)]
    sizes = [len(values) for values in passed]
    if isinstance(op, cf.ConditionalBranchOp):
        op.properties["operandSegmentSizes"] = _sizes(1, *sizes)
    elif isinstance(op, cf.SwitchOp):
        op.properties["operandSegmentSizes"] = _sizes(1, sizes[0], sum(sizes[1:]))
        op.properties["case_operand_segments"] = _sizes(*sizes[1:])


def _sizes(*sizes: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, sizes)


def predecessors(block: Block) -> list[Block]:
    """The block of each branch here, more than once if there are several from one block."""
    return [use.operation.parent for use in block.uses if use.operation.parent is not None]


def single_predecessor(block: Block) -> Block | None:
    """The block of the only branch here."""
    found = predecessors(block)
    return found[0] if len(found) == 1 else None


def unique_predecessor(block: Block) -> Block | None:
    """The only block with branches here."""
    found = set(predecessors(block))
    return found.pop() if len(found) == 1 else None
