"""When two task bodies do the same: a key that is equal for equal bodies.

Values are numbered in the order of their definition, captured ones by their place in the argument
list, so names do not count.  The place of an assertion counts: it is part of the error message.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

from xdsl.dialects.cf import AssertOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.tasks import ExecuteOp

BodyKey: TypeAlias = tuple[Hashable, ...]


def body_key(task: ExecuteOp, captured: Sequence[SSAValue]) -> BodyKey:
    """Equal for tasks that may share one function."""
    numbers: dict[SSAValue, int] = {}
    arguments = [*task.dependencies, *task.body_operands, *captured]
    for value in arguments:
        numbers.setdefault(value, len(numbers))
    return (
        tuple(numbers[value] for value in arguments),
        tuple(task.dependencies.types),
        tuple(task.body_operands.types),
        tuple(value.type for value in captured),
        tuple(task.result_types),
        _region_key(task.body, numbers),
    )


def _region_key(region: Region, numbers: dict[SSAValue, int]) -> BodyKey:
    blocks: dict[Block, int] = {block: index for index, block in enumerate(region.blocks)}
    for block in region.blocks:
        for argument in block.args:
            numbers[argument] = len(numbers)
    return tuple(
        (tuple(block.arg_types), tuple(_op_key(op, numbers, blocks) for op in block.ops))
        for block in region.blocks
    )


def _op_key(op: Operation, numbers: dict[SSAValue, int], blocks: dict[Block, int]) -> BodyKey:
    # A later block may define what an earlier one in the text uses: such a use gets a number here.
    operands = tuple(numbers.setdefault(operand, len(numbers)) for operand in op.operands)
    for result in op.results:
        numbers.setdefault(result, len(numbers))
    return (
        op.name,
        operands,
        tuple(numbers[result] for result in op.results),
        tuple(op.result_types),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(blocks[successor] for successor in op.successors),
        tuple(_region_key(region, numbers) for region in op.regions),
        op.location if type(op) is AssertOp else None,
    )
