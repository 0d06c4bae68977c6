"""Fold and rewrite the operations of a region until none of them changes.

Each round looks at the operations from the first to the last, at those that changed once more, and then
tidies blocks.  An operation goes away, or is folded, or the first pattern that fits it is applied.
Equal constants become one at the start of a round only, in front of the function they are in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tfrt_nb.passes.greedy.constants import constant_of, constant_op, is_constant
from tfrt_nb.passes.greedy.effects import is_dead
from tfrt_nb.passes.greedy.regions import drop_equal_arguments, simplify_regions
from tfrt_nb.passes.greedy.rewriter import Rewriter

Folded: TypeAlias = Sequence[SSAValue | Attribute] | None
"""What the results of an operation are; nothing if it was changed in place; None if it was not."""
Folder: TypeAlias = Callable[[Operation, Sequence[Attribute | None]], Folded]
Pattern: TypeAlias = Callable[[Operation, Rewriter], bool]
"""Changes the operation, or what is around it, and says whether it did."""
Folders: TypeAlias = Mapping[str, Folder]
Patterns: TypeAlias = Mapping[str, Sequence[Pattern]]

MOST_ROUNDS = 10


def rewrite_greedily(
    region: Region, folders: Folders, patterns: Patterns, *, last_first: bool = False
) -> None:
    """Apply what there is for the names of operations, in this region and all inside it.

    A round begins with the first operation, or with the last, inner ones before outer ones; then, as in
    MLIR, arguments of blocks that always are the same value go away, too.
    """
    rewriter = Rewriter(region)
    driver = _Driver(rewriter, folders, patterns, last_first)
    for _ in range(MOST_ROUNDS):
        has_changed = driver.round()
        has_changed |= simplify_regions(region, rewriter)
        has_changed |= last_first and drop_equal_arguments(region, rewriter)
        if not has_changed:
            return


class _Driver:
    def __init__(
        self, rewriter: Rewriter, folders: Folders, patterns: Patterns, last_first: bool
    ) -> None:
        self.rewriter = rewriter
        self.last_first = last_first
        self.folders = folders
        self.patterns = patterns

    def round(self) -> bool:
        """Look at everything once, and at what changes again; whether anything changed."""
        worklist = self.rewriter.worklist
        while worklist.pop() is not None:
            pass
        self.rewriter.current = None
        _UniqueConstants(self.rewriter, self.last_first).settle(self.rewriter.scope)
        if not self.last_first:
            worklist.reverse()
        has_changed = False
        while (op := worklist.pop()) is not None:
            self.rewriter.current = op
            has_changed |= self._step(op)
        return has_changed

    def _step(self, op: Operation) -> bool:
        if is_dead(op):
            self.rewriter.erase(op)
            return True
        if self._fold(op):
            return True
        return any(pattern(op, self.rewriter) for pattern in self.patterns.get(op.name, ()))

    def _fold(self, op: Operation) -> bool:
        folder = self.folders.get(op.name)
        if folder is None:
            return False
        folded = folder(op, [constant_of(operand) for operand in op.operands])
        if folded is None:
            return False
        if not folded:
            self.rewriter.look_at(op)
            return True
        values = self._values(op, folded)
        if values is None:
            return False
        self.rewriter.replace(op, values)
        return True

    def _values(
        self, op: Operation, folded: Sequence[SSAValue | Attribute]
    ) -> list[SSAValue] | None:
        """Values for what is folded, with new constants in front of `op`; None if there are none."""
        values: list[SSAValue] = []
        for one, result in zip(folded, op.results, strict=True):
            if isinstance(one, SSAValue):
                values.append(one)
                continue
            dialect, _, _ = op.name.partition(".")
            constant = constant_op(one, result.type, dialect)
            if constant is None:
                return None
            values.append(self.rewriter.insert(constant, op).results[0])
        return values


class _UniqueConstants:
    """Constants by the operation in which they are hoisted, and what they are."""

    def __init__(self, rewriter: Rewriter, inner_first: bool) -> None:
        self.rewriter = rewriter
        self.inner_first = inner_first
        self.known: dict[tuple[Region, str, Attribute, Attribute], Operation] = {}
        self.kept: set[Operation] = set()

    def settle(self, region: Region) -> None:
        """Hoist constants and put all other operations on the worklist."""
        for block in tuple(region.blocks):
            op = block.first_op
            while op is not None:
                following = op.next_op
                if not self.inner_first:
                    self._visit(op)
                for nested in op.regions:
                    self.settle(nested)
                if self.inner_first:
                    self._visit(op)
                op = following

    def _visit(self, op: Operation) -> None:
        if not is_constant(op) or self._keep(op):
            self.rewriter.look_at(op)

    def _keep(self, op: Operation) -> bool:
        """Move the constant to where it is found again; false if there is one like it already."""
        block = op.parent
        assert block is not None
        value = constant_of(op.results[0])
        if value is None:
            return True
        scope = _scope_of(block)
        dialect, _, _ = op.name.partition(".")
        key = scope, dialect, value, op.results[0].type
        known = self.known.get(key)
        if known is not None:
            self.rewriter.replace(op, known.results)
            return False
        self.known[key] = op
        first = scope.blocks[0]
        if block is not first or (op.prev_op is not None and op.prev_op not in self.kept):
            assert first.first_op is not None
            block.detach_op(op)
            first.insert_op_before(op, first.first_op)
        self.kept.add(op)
        return True


def _scope_of(block: Block) -> Region:
    """The region of the function, or other operation that sees nothing from outside, around a block."""
    while True:
        region = block.parent
        assert region is not None
        holder = region.parent
        if holder is None or holder.parent is None or holder.has_trait(IsolatedFromAbove):
            return region
        block = holder.parent
