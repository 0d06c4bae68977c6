"""Liveness analysis: the blocks of a region in which values are live.

If an operation in a nested region uses a value, the enclosing operation in the value's own region
counts as the user. A set of values is an integer whose bit `i` represents value `i`. One analysis
covers all given values, and describes the control-flow graph at the time of the analysis.

The algorithm is live-variable analysis with a worklist, the backward data-flow analysis in Aho,
Lam, Sethi, and Ullman, "Compilers: Principles, Techniques, and Tools", second edition, chapter 9.
Rejected alternative: a search from each use back to the definition, which is quadratic in functions
with many values and blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.upstream.branches import reachable_blocks
from tfrt_nb.passes.control_flow import ancestors, block_of, defining_block


class Liveness:
    """The liveness of some values of one region. The position of a value in `values` is its number.

    For each block, `made` contains the values that the block defines, `live_in` the values that are
    live on entry, and `at_end` the values that the terminator uses. A branch that passes a value to
    a block argument is a user of the value.
    """

    def __init__(self, region: Region, values: Sequence[SSAValue]) -> None:
        self.values = values
        # In this order, dominators come first. `_spread` starts at the other end, where liveness
        # starts.
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
        """Propagate liveness backward.

        If a value is live on entry to a block, it is live on entry to each predecessor that does
        not define it.
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
        """Return the values that are live on entry to at least one successor."""
        needed = 0
        for successor in self._successors[block]:
            needed |= self.live_in[successor]
        return needed

    def last_user(self, block: Block, number: int) -> Operation | None:
        """Return the last operation of the block that uses the value with this number, or None."""
        return self._last_users[block].get(number)


def numbers_in(values: int) -> Iterator[int]:
    """Yield the numbers of the values in a set, in ascending order."""
    while values:
        lowest = values & -values
        yield lowest.bit_length() - 1
        values ^= lowest


def ancestor_in(region: Region, op: Operation) -> Operation:
    """Return the operation directly in `region` that is `op` or encloses `op`."""
    return [op, *itertools.takewhile(lambda outer: outer is not region.parent, ancestors(op))][-1]
