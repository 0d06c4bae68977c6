"""Which blocks control must pass to reach others."""

from __future__ import annotations

from xdsl.ir import Block, Region

from tfrt_nb.passes.control_flow import terminator_of
from tfrt_nb.passes.greedy.rewriter import post_order


def in_dominance_order(region: Region) -> list[Block]:
    """The blocks that can be reached, each in front of those that it dominates, as MLIR's conversions go.

    A block is followed by all that it dominates; of blocks that the same one dominates, that comes first
    which a search in depth finds first.
    """
    if len(region.blocks) < 2:
        return list(region.blocks)
    dominated = dominated_blocks(region)
    places = {block: place for place, block in enumerate(_found_in_depth(region.blocks[0]))}
    order, pending = [], [region.blocks[0]]
    while pending:
        block = pending.pop()
        order.append(block)
        pending += sorted(dominated[block], key=places.__getitem__, reverse=True)
    return order


def _found_in_depth(entry: Block) -> list[Block]:
    found: dict[Block, None] = {}
    pending = [entry]
    while pending:
        block = pending.pop()
        if block not in found:
            found[block] = None
            pending.extend(reversed(terminator_of(block).successors))
    return list(found)


def dominated_blocks(region: Region) -> dict[Block, list[Block]]:
    """Each block that is reached, with the blocks right below it in the tree of dominators.

    The entry comes first.  (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.)
    """
    order = list(post_order(region.blocks[0]))
    numbers = {block: number for number, block in enumerate(order)}
    entry = order[-1]
    dominators = {entry: entry}
    has_changed = True
    while has_changed:
        has_changed = False
        for block in reversed(order[:-1]):
            above: Block | None = None
            for before in (use.operation.parent for use in block.uses):
                if before in dominators:
                    above = before if above is None else _common(above, before, dominators, numbers)
            assert above is not None
            if dominators.get(block) is not above:
                dominators[block] = above
                has_changed = True
    below: dict[Block, list[Block]] = {block: [] for block in reversed(order)}
    for block in reversed(order[:-1]):
        below[dominators[block]].append(block)
    return below


def _common(
    one: Block, other: Block, dominators: dict[Block, Block], numbers: dict[Block, int]
) -> Block:
    while one is not other:
        if numbers[one] < numbers[other]:
            one = dominators[one]
        else:
            other = dominators[other]
    return one
