"""Liveness analysis: the blocks of a region in which values are live.

A use in a nested region counts as a use by the enclosing operation in the value's own region. Sets
of values are integers: bit `i` represents value `i`. The analysis covers all values at once, in the
control-flow graph as it is at that time.

This is live-variable analysis, the backward data-flow analysis in Aho, Lam, Sethi, and Ullman,
"Compilers: Principles, Techniques, and Tools", second edition, chapter 9, with a worklist.
Rejected: a search from each use back to the definition, which is quadratic in functions with many
values and blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.upstream.branches import reachable_blocks
from tfrt_nb.passes.control_flow import ancestors, block_of, defining_block


class Liveness:
    """The liveness of some values of one region. The values are numbered in the given order.

    For each block, `made` has the values that the block defines, `live_in` the values that are live
    on entry, and `at_end` the values that the terminator uses. Passing a value to a block argument
    is a use by the branch.
    """

    def __init__(self, region: Region, values: Sequence[SSAValue]) -> None:
        self.values = values
        self.blocks = list(dict.fromkeys([*reachable_blocks(region), *region.blocks]))
        self._successors = {
            block: () if (end := block.last_op) is None else end.successors for block in self.blocks
        }
        self.made = dict.fromkeys(self.blocks, 0)
        self.at_end = dict.fromkeys(self.blocks, 0)
        self._last_users: dict[Block, dict[int, Operation]] = {b: {} for b in self.blocks}
        ops = (op for block in region.blocks for op in block.ops)
        places = {op: place for place, op in enumerate(ops)}
        used = dict.fromkeys(self.blocks, 0)
        for number, value in enumerate(values):
            bit = 1 << number
            self.made[defining_block(value)] |= bit
            for user in {ancestor_in(region, use.operation) for use in value.uses}:
                block = block_of(user)
                used[block] |= bit
                last_users = self._last_users[block]
                last = last_users.get(number)
                if last is None or places[last] < places[user]:
                    last_users[number] = user
                if user is block.last_op and user.has_trait(
                    IsTerminator, value_if_unregistered=False
                ):
                    self.at_end[block] |= bit
        self.live_in = {block: used[block] & ~self.made[block] for block in self.blocks}
        self._spread()

    def _spread(self) -> None:
        """Propagate liveness backward: if a block needs a value, so do its predecessors, unless
        they define it.
        """
        pending = dict.fromkeys(self.blocks)  # `popitem` takes the last block first
        while pending:
            block, _ = pending.popitem()
            needed = self.live_in[block]
            for predecessor in block.predecessors():
                more = needed & ~self.made[predecessor] & ~self.live_in[predecessor]
                if more:
                    self.live_in[predecessor] |= more
                    pending[predecessor] = None

    def live_out(self, block: Block) -> int:
        """Return the values that are live in some successor."""
        needed = 0
        for successor in self._successors[block]:
            needed |= self.live_in[successor]
        return needed

    def last_user(self, block: Block, number: int) -> Operation | None:
        """Return the last operation of the block that uses the value."""
        return self._last_users[block].get(number)


def numbers_in(values: int) -> Iterator[int]:
    """Yield the numbers of the values in a set, in ascending order."""
    while values:
        lowest = values & -values
        yield lowest.bit_length() - 1
        values ^= lowest


def ancestor_in(region: Region, op: Operation) -> Operation:
    """Return `op`, or the operation that encloses it, whichever is directly in the region."""
    return [op, *itertools.takewhile(lambda outer: outer is not region.parent, ancestors(op))][-1]
