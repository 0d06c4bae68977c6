"""Values are defined before they are used, on every way there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.upstream.branches import reachable_blocks
from tfrt_nb.source.spans import definition_span, operand_span, source_span, value_name
from tfrt_runtime.diagnostics import Diagnostic, error, led_by, note


def check_uses_before_definition(value: SSAValue) -> Iterator[Diagnostic]:
    """The first use of `value` outside of its region, or before it in its block.

    Those in other blocks of its region are `check_dominance`'s.
    """
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None:
        return
    wrong = [
        (_start(use.operation), use.index, use.operation)
        for use in value.uses
        if (user := _ancestor_in_region(use.operation, block.parent)) is None
        or _is_before(user, owner)
    ]
    if wrong:
        _, index, operation = min(wrong, key=lambda use: use[:2])
        yield _dominance_error(operation, index, "is used before the line that defines it")


def _is_before(user: Operation, owner: Operation | Block) -> bool:
    """Whether `user` comes before `owner` in the same block, or is it."""
    if isinstance(owner, Block) or user.parent is not owner.parent:
        return False
    return _start(user) <= _start(owner)


def check_dominance(region: Region) -> Iterator[Diagnostic]:
    """Uses in a region of several blocks whose definition need not have run.

    Code that never runs may use anything, as in MLIR.
    """
    tree = _dominator_tree(region)
    for block, (number, _) in tree.items():
        for operation in block.walk():
            for index, value in enumerate(operation.operands):
                owner = value.owner if isinstance(value.owner, Block) else value.owner.parent
                if owner is None or owner.parent is not region:
                    continue
                first, last = tree.get(owner, (0, -1))
                if not first <= number <= last:
                    said = "is not defined on every path to this line"
                    yield _dominance_error(operation, index, said)


def _dominator_tree(region: Region) -> dict[Block, tuple[int, int]]:
    """For each block that some way leads to, its number and the last number of those that it
    dominates.

    A block is dominated by the blocks on every way to it, and by itself.
    """
    order = reachable_blocks(region)
    nearest = _nearest_dominators(order)
    sizes = [1] * len(order)
    for index in range(len(order) - 1, 0, -1):
        sizes[nearest[index]] += sizes[index]
    numbers = [0] * len(order)
    following = [1] * len(order)
    for index in range(1, len(order)):
        above = nearest[index]
        numbers[index] = following[above]
        following[above] += sizes[index]
        following[index] = numbers[index] + 1
    return {
        block: (number, number + size - 1)
        for block, number, size in zip(order, numbers, sizes, strict=True)
    }


def _nearest_dominators(order: Sequence[Block]) -> list[int]:
    """Return the index of each block's immediate dominator; for the first block, its own index.

    The algorithm is that of Cooper, Harvey, and Kennedy, "A Simple, Fast Dominance Algorithm" (Rice
    University, CS Technical Report 06-33870, 2006).
    """
    index_of = {block: index for index, block in enumerate(order)}
    sources = [
        [index_of[source] for source in block.predecessors() if source in index_of]
        for block in order
    ]
    nearest = [0, *[-1] * (len(order) - 1)]
    changed = True
    while changed:
        changed = False
        for index in range(1, len(order)):
            found = -1
            for source in sources[index]:
                if nearest[source] < 0:
                    continue
                other = source if found < 0 else found
                while other != source:  # both are before the block: the later one goes up
                    if other > source:
                        other = nearest[other]
                    else:
                        source = nearest[source]
                found = other
            changed = changed or found != nearest[index]
            nearest[index] = found
    return nearest


def _dominance_error(operation: Operation, index: int, said: str) -> Diagnostic:
    value = operation.operands[index]
    definition = note("it is defined here: move this up, or the use down", definition_span(value))
    words = f"operand #{index} does not dominate this use"
    problem = error(words, operand_span(operation, index), [definition])
    return led_by(f"'{value_name(value) or 'the value'}' {said}", problem)


def _ancestor_in_region(operation: Operation, region: Region | None) -> Operation | None:
    ancestor: Operation | None = operation
    while ancestor is not None and ancestor.parent_region() is not region:
        ancestor = ancestor.parent_op()
    return ancestor


def _start(operation: Operation) -> int:
    span = source_span(operation)
    return 0 if span is None else span.start
