"""Check that values are defined before they are used, on every path."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.upstream.branches import reachable_blocks
from tfrt_nb.source.spans import definition_span, operand_span, source_span, value_name
from tfrt_runtime.diagnostics import Diagnostic, error, led_by, note


def check_uses_before_definition(value: SSAValue) -> Iterator[Diagnostic]:
    """Yield an error for the first use of `value` that is not allowed at its position.

    The use is outside the value's region, or before the definition in the same block.
    `check_dominance` finds the uses in other blocks of the region.
    """
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None or (region := block.parent) is None:
        return
    wrong = [
        (_start(use.operation), use.index, use.operation)
        for use in value.uses
        if region.find_ancestor_block_in_region(use.operation.parent or block) is None
        or (
            isinstance(owner, Operation)
            and (user := block.find_ancestor_op_in_block(use.operation)) is not None
            and _start(user) <= _start(owner)
        )
    ]
    if wrong:
        _, index, operation = min(wrong, key=lambda use: use[:2])
        yield _dominance_error(operation, index, "is used before the line that defines it")


def check_dominance(region: Region) -> Iterator[Diagnostic]:
    """Yield an error for each use that may run before its definition.

    The region must have several blocks. As in MLIR, unreachable code may use any value.
    """
    order = reachable_blocks(region)
    numbers = {block: number for number, block in enumerate(order)}
    dominators = _dominators(order, numbers)
    for number, block in enumerate(order):
        for operation in block.walk():
            for index, value in enumerate(operation.operands):
                owner = value.owner if isinstance(value.owner, Block) else value.owner.parent
                if owner is None or owner.parent is not region:
                    continue
                if owner not in numbers or not dominators[number] >> numbers[owner] & 1:
                    yield _dominance_error(
                        operation, index, "is not defined on every path to this line"
                    )


def _dominators(order: Sequence[Block], numbers: Mapping[Block, int]) -> list[int]:
    """Return, for each block, the blocks on every path to it, including the block itself.

    A set of blocks is an integer whose bit `i` represents block `i`.
    """
    # -1 has all bits set: at first, all blocks dominate each block except the entry, and the loop
    # removes those that do not.
    found = [1, *[-1] * (len(order) - 1)]
    has_changed = True
    while has_changed:
        has_changed = False
        for number, block in enumerate(order[1:], 1):
            sources = (found[numbers[one]] for one in block.predecessors() if one in numbers)
            # A reachable block other than the entry has at least one reachable predecessor.
            own = functools.reduce(operator.and_, sources) | 1 << number
            has_changed |= own != found[number]
            found[number] = own
    return found


def _dominance_error(operation: Operation, index: int, said: str) -> Diagnostic:
    value = operation.operands[index]
    definition = note("it is defined here: move this up, or the use down", definition_span(value))
    words = f"operand #{index} does not dominate this use"
    problem = error(words, operand_span(operation, index), [definition])
    return led_by(f"'{value_name(value) or 'the value'}' {said}", problem)


def _start(operation: Operation) -> int:
    span = source_span(operation)
    return 0 if span is None else span.start
