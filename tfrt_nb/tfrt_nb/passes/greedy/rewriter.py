"""Changes to operations, after each of which the operations that it may concern are looked at again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.passes.greedy.worklist import Worklist

OpT = TypeVar("OpT", bound=Operation)


@dataclass
class Rewriter:
    """Whoever changes operations of `scope` while the driver runs does so through this.

    New operations get the location of the one that is being rewritten, `current`.
    """

    scope: Region
    worklist: Worklist = field(default_factory=Worklist)
    current: Operation | None = None

    def look_at(self, op: Operation) -> None:
        """Look at the operation again, but first at those around it."""
        around = []
        holder: Operation | None = op
        while holder is not None:
            around.append(holder)
            if holder.parent_region() is self.scope:
                for one in around:
                    self.worklist.push(one)
                return
            holder = holder.parent_op()

    def look_no_more(self, op: Operation) -> None:
        """Leave out an operation and all inside it: somebody else is about to erase them."""
        for nested in op.walk():
            self.worklist.remove(nested)

    # New operations

    def insert(self, op: OpT, before: Operation) -> OpT:
        """Put a new operation in front of another."""
        assert before.parent is not None
        before.parent.insert_op_before(self._placed(op), before)
        self.look_at(op)
        return op

    def append(self, op: OpT, block: Block) -> OpT:
        """Put a new operation at the end of a block."""
        block.add_op(self._placed(op))
        self.look_at(op)
        return op

    def _placed(self, op: OpT) -> OpT:
        if self.current is not None:
            op.location = self.current.location
        return op

    # Changes in place

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        op.operands[index] = value
        self.look_at(op)

    def set_operands(self, op: Operation, values: Sequence[SSAValue]) -> None:
        op.operands = values
        self.look_at(op)

    def replace_uses(self, value: SSAValue, by: SSAValue) -> None:
        """Let every user of `value` use `by`."""
        if value is by:
            return
        for use in tuple(value.uses):
            self.set_operand(use.operation, use.index, by)

    # Replacing and erasing

    def replace(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Erase `op`; who used its results uses `values`."""
        for result, value in zip(op.results, values, strict=True):
            self.replace_uses(result, value)
        self.erase(op)

    def replace_with(self, op: Operation, new: OpT) -> OpT:
        """Put `new` in the place of `op`, result for result."""
        self.insert(new, op)
        self.replace(op, new.results)
        return new

    def erase(self, op: Operation) -> None:
        """Erase an operation and all inside it, users before what they use."""
        for region in reversed(op.regions):
            while region.blocks:
                reached = list(post_order(region.blocks[0]))
                for block in reached:
                    for nested in reversed(list(block.ops)):
                        self.erase(nested)
                for block in reached:
                    region.detach_block(block)
        self._forget(op)
        assert op.parent is not None
        op.parent.detach_op(op)
        op.drop_all_references()

    def _forget(self, op: Operation) -> None:
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and not _has_more_than_one_other_user(operand, op):
                self.look_at(owner)
        self.worklist.remove(op)

    def erase_block(self, block: Block) -> None:
        """Erase a block that no branch goes to."""
        for op in reversed(list(block.ops)):
            self.erase(op)
        assert block.parent is not None
        block.parent.detach_block(block)

    def clone(self, op: OpT, before: Operation, values: dict[SSAValue, SSAValue]) -> OpT:
        """Put a copy in front of `before`; `values` are what it uses instead, and gets its results."""
        copied = op.clone(values)
        assert before.parent is not None
        before.parent.insert_op_before(copied, before)
        for original, new in zip(op.walk(), copied.walk(), strict=True):
            new.location = original.location
            self.look_at(new)
        return copied

    # Moving

    def move_before(self, op: Operation, before: Operation) -> None:
        """Move an operation in front of another."""
        assert op.parent is not None and before.parent is not None
        op.parent.detach_op(op)
        before.parent.insert_op_before(op, before)
        self.look_at(op)

    def inline_before(self, block: Block, before: Operation, values: Sequence[SSAValue]) -> None:
        """Move what is in the block in front of `before`; `values` are what its arguments stand for."""
        self._take_arguments(block, values)
        for op in list(block.ops):
            self.move_before(op, before)
        self.erase_block(block)

    def merge(self, block: Block, into: Block, values: Sequence[SSAValue]) -> None:
        """Move what is in the block to the end of another, which has no terminator."""
        self._take_arguments(block, values)
        for op in list(block.ops):
            into.add_op(block.detach_op(op))
            self.look_at(op)
        self.erase_block(block)

    def _take_arguments(self, block: Block, values: Sequence[SSAValue]) -> None:
        for argument, value in zip(block.args, values, strict=True):
            self.replace_uses(argument, value)


def _has_more_than_one_other_user(value: SSAValue, op: Operation) -> bool:
    other: Operation | None = None
    for use in value.uses:
        user = use.operation
        if user is op or user is other:
            continue
        if other is not None:
            return True
        other = user
    return False


def post_order(entry: Block) -> Iterator[Block]:
    """The blocks that are reached from `entry`, each after those that it branches to."""
    seen = {entry}
    path: list[tuple[Block, Iterator[Block]]] = [(entry, iter(_successors(entry)))]
    while path:
        block, targets = path[-1]
        target = next(targets, None)
        if target is None:
            path.pop()
            yield block
        elif target not in seen:
            seen.add(target)
            path.append((target, iter(_successors(target))))


def _successors(block: Block) -> Iterable[Block]:
    return () if block.last_op is None else tuple(block.last_op.successors)
