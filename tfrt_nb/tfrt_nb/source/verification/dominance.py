"""Values are defined before they are used, on every way there."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.source.spans import definition_span, operand_span, source_span
from tfrt_runtime.diagnostics import Diagnostic, error, note


def check_uses_before_definition(value: SSAValue) -> Iterator[Diagnostic]:
    """Uses of `value` outside of its region, or before it in its block.

    Those in other blocks of its region are `check_dominance`'s.
    """
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None:
        return
    for use in value.uses:
        user = _ancestor_in_region(use.operation, block.parent)
        if user is None or _is_before(user, owner):
            yield _dominance_error(use.operation, use.index)


def _is_before(user: Operation, owner: Operation | Block) -> bool:
    """Whether `user` comes before `owner` in the same block, or is it."""
    if isinstance(owner, Block) or user.parent is not owner.parent:
        return False
    return _start(user) <= _start(owner)


def check_dominance(region: Region) -> Iterator[Diagnostic]:
    """Uses in a region of several blocks whose definition need not have run."""
    for block, dominators in _dominators(region).items():
        for operation in block.walk():
            for index, value in enumerate(operation.operands):
                owner = value.owner if isinstance(value.owner, Block) else value.owner.parent
                if owner is not None and owner.parent is region and owner not in dominators:
                    yield _dominance_error(operation, index)


def _dominators(region: Region) -> dict[Block, set[Block]]:
    """The blocks on every way to a block, and itself; blocks that no way leads to are left out.

    Code that never runs may use anything, as in MLIR.
    """
    reachable = list(_reachable_blocks(region))
    entry = reachable[0]
    dominators = {block: set(reachable) for block in reachable}
    dominators[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for block in reachable[1:]:
            sources = [p for p in block.predecessors() if p in dominators]
            found = {block}.union(set.intersection(*(dominators[p] for p in sources)))
            changed = changed or found != dominators[block]
            dominators[block] = found
    return dominators


def _reachable_blocks(region: Region) -> Iterator[Block]:
    pending, seen = [region.blocks[0]], {region.blocks[0]}
    while pending:
        block = pending.pop()
        yield block
        successors = () if block.last_op is None else block.last_op.successors
        pending.extend(target for target in successors if target not in seen)
        seen.update(successors)


def _dominance_error(operation: Operation, index: int) -> Diagnostic:
    definition = note("operand defined here", definition_span(operation.operands[index]))
    return error(
        f"operand #{index} does not dominate this use", operand_span(operation, index), [definition]
    )


def _ancestor_in_region(operation: Operation, region: Region | None) -> Operation | None:
    ancestor: Operation | None = operation
    while ancestor is not None and ancestor.parent_region() is not region:
        ancestor = ancestor.parent_op()
    return ancestor


def _start(operation: Operation) -> int:
    span = source_span(operation)
    return 0 if span is None else span.start
