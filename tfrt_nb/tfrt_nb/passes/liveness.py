"""In which blocks of its region a value is live.

A use in a nested region counts as a use by the operation of the value's own region that holds it.
Nothing is cached: a pass that changes the control flow graph asks again.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.passes.control_flow import region_of


@dataclass(frozen=True)
class Liveness:
    """A value's life: where it is made, where it is needed on entry, who uses it where.

    `users` holds operations of the value's region in no particular order; a value that is passed to a
    block argument is used by the branch.
    """

    defined_in: Block
    live_in: frozenset[Block]
    users: dict[Block, frozenset[Operation]]

    @property
    def blocks(self) -> list[Block]:
        """The blocks that hold the value at some point, as control reaches them."""
        found = {self.defined_in: None}
        pending = [self.defined_in]
        while pending:
            last = pending.pop().last_op
            successors = () if last is None else last.successors
            following = [b for b in successors if b in self.live_in and b not in found]
            found |= dict.fromkeys(following)
            pending.extend(reversed(following))
        return list(found)

    def is_live_out(self, block: Block) -> bool:
        """Whether some successor needs the value."""
        last = block.last_op
        return last is not None and any(target in self.live_in for target in last.successors)

    def last_user(self, block: Block) -> Operation | None:
        """The last operation of the block that uses the value."""
        users = self.users.get(block, frozenset())
        op = block.last_op
        while op is not None and op not in users:
            op = op.prev_op
        return op


def liveness_of(value: SSAValue) -> Liveness:
    """The life of the value in the control flow graph as it is now."""
    defined_in = defining_block(value)
    users: dict[Block, set[Operation]] = {}
    for use in value.uses:
        op = ancestor_in(region_of(defined_in), use.operation)
        assert op.parent is not None
        users.setdefault(op.parent, set()).add(op)
    live_in = _needed_on_entry(defined_in, users)
    frozen = {block: frozenset(ops) for block, ops in users.items()}
    return Liveness(defined_in, frozenset(live_in), frozen)


def _needed_on_entry(defined_in: Block, users: dict[Block, set[Operation]]) -> set[Block]:
    """The blocks with a use and all on the way to them from the definition."""
    pending = [block for block in users if block is not defined_in]
    needed: set[Block] = set()
    while pending:
        block = pending.pop()
        if block in needed:
            continue
        needed.add(block)
        pending.extend(p for p in block.predecessors() if p is not defined_in)
    return needed


def defining_block(value: SSAValue) -> Block:
    """The block that the value is an argument of, or in which an operation makes it."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def ancestor_in(region: Region, op: Operation) -> Operation:
    """The operation directly in the region that is `op` or holds it."""
    while op.parent is not None and op.parent.parent is not region:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op
