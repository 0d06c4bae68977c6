"""The order in which MLIR's conversions go through the blocks of a region."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Region

from tfrt_nb.passes.control_flow import terminator_of


def in_dominance_order(region: Region) -> list[Block]:
    """The blocks that can be reached, each in front of those that it dominates.

    A block is followed by all that it dominates; of blocks that the same one dominates, that comes first
    which a search in depth finds first.
    """
    if len(region.blocks) < 2:
        return list(region.blocks)
    found, finished = _search(region.blocks[0])
    dominated: dict[Block, list[Block]] = {block: [] for block in found}
    for block, dominator in _immediate_dominators(finished).items():
        dominated[dominator].append(block)
    places = {block: place for place, block in enumerate(found)}
    order, pending = [], [region.blocks[0]]
    while pending:
        block = pending.pop()
        order.append(block)
        pending += sorted(dominated[block], key=places.__getitem__, reverse=True)
    return order


def _search(entry: Block) -> tuple[list[Block], list[Block]]:
    """The blocks that can be reached, as a search in depth finds them, and as it leaves them."""
    found, finished = [entry], []
    path, seen = [(entry, iter(terminator_of(entry).successors))], {entry}
    while path:
        _, targets = path[-1]
        target = next((one for one in targets if one not in seen), None)
        if target is None:
            finished.append(path.pop()[0])
        else:
            seen.add(target)
            found.append(target)
            path.append((target, iter(terminator_of(target).successors)))
    return found, finished


def _immediate_dominators(finished: list[Block]) -> dict[Block, Block]:
    """The closest block on every way to a block; none for the entry, which is the last in the list."""
    places = {block: place for place, block in enumerate(finished)}
    *others, entry = finished
    dominators = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(others):
            known = [source for source in block.predecessors() if source in dominators]
            closest = _common(known, dominators, places)
            changed = changed or dominators.get(block) is not closest
            dominators[block] = closest
    del dominators[entry]
    return dominators


def _common(
    sources: Iterable[Block], dominators: dict[Block, Block], places: dict[Block, int]
) -> Block:
    """The closest block that dominates all of the sources."""
    first, *rest = sources
    for other in rest:
        while first is not other:
            if places[first] < places[other]:
                first = dominators[first]
            else:
                other = dominators[other]
    return first
