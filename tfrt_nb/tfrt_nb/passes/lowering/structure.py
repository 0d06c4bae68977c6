"""When two task bodies do the same: a key that is equal for bodies that differ in numbers at most.

Values are numbered in the order of their definition, captured ones by their place in the argument
list, so names do not count.  The place of an assertion counts: it is part of the error message.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.dialects.cf import AssertOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.tasks import ExecuteOp

BodyKey: TypeAlias = tuple[Hashable, ...]

MAX_SPECIALISED = 8
"""So many bodies that differ in numbers only have functions of their own, in which the numbers are known."""


def numbers_to_know(
    variants: Mapping[Hashable, object], numbers: Sequence[Hashable]
) -> Hashable | None:
    """The numbers that the function for a body knows; None where it gets them as arguments.

    `variants` has the functions that there are for bodies of the same key, by the numbers that they know.
    """
    known = tuple(numbers)
    return known if known in variants or len(variants) < MAX_SPECIALISED else None


def is_number(value: SSAValue) -> bool:
    """Whether a task may be given the value as an argument that is copied."""
    return isinstance(value.type, IntegerType | IndexType | AnyFloat)


def body_key(task: ExecuteOp, captured: Sequence[SSAValue], constants: list[ConstantOp]) -> BodyKey:
    """Equal for tasks that may share one function if they are given their numbers.

    The operations in the body that make these are added to `constants`, in the order of the body.
    """
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
        _region_key(task.body, numbers, constants),
    )


def _region_key(
    region: Region, numbers: dict[SSAValue, int], constants: list[ConstantOp]
) -> BodyKey:
    blocks: dict[Block, int] = {block: index for index, block in enumerate(region.blocks)}
    for block in region.blocks:
        for argument in block.args:
            numbers[argument] = len(numbers)
    return tuple(
        (
            tuple(block.arg_types),
            tuple(_op_key(op, numbers, blocks, constants) for op in block.ops),
        )
        for block in region.blocks
    )


def _op_key(
    op: Operation,
    numbers: dict[SSAValue, int],
    blocks: dict[Block, int],
    constants: list[ConstantOp],
) -> BodyKey:
    # A later block may define what an earlier one in the text uses: such a use gets a number here.
    operands = tuple(numbers.setdefault(operand, len(numbers)) for operand in op.operands)
    for result in op.results:
        numbers.setdefault(result, len(numbers))
    if type(op) is ConstantOp and is_number(op.result):
        constants.append(op)
        return op.name, numbers[op.result], op.result.type
    return (
        op.name,
        operands,
        tuple(numbers[result] for result in op.results),
        tuple(op.result_types),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(blocks[successor] for successor in op.successors),
        tuple(_region_key(region, numbers, constants) for region in op.regions),
        op.location if type(op) is AssertOp else None,
    )
