"""Blocks that are never reached, and operations and arguments of blocks that nobody needs, go away."""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue, Use

from tfrt_nb.passes.greedy.branches import argument_of, is_branch, pass_instead, passed_by
from tfrt_nb.passes.greedy.effects import is_terminator, would_be_dead
from tfrt_nb.passes.greedy.rewriter import Rewriter, post_order


def simplify_regions(region: Region, rewriter: Rewriter) -> bool:
    """Tidy a region and all inside it.

    Whether an operation or a block went away: arguments alone are no reason to look again.
    """
    has_changed = _erase_unreachable_blocks(region, rewriter)
    return _erase_dead_operations(region, rewriter) or has_changed


def drop_equal_arguments(region: Region, rewriter: Rewriter) -> bool:
    """Use a value itself where all branches to a block pass it."""
    has_changed = False
    for block in region.blocks:
        has_changed |= _drop_those_equal(block, rewriter)
        for op in block.ops:
            for nested in op.regions:
                has_changed |= drop_equal_arguments(nested, rewriter)
    return has_changed


def _drop_those_equal(block: Block, rewriter: Rewriter) -> bool:
    count = len(block.args)
    for argument in reversed(block.args):
        _drop_if_equal(argument, rewriter)
    return len(block.args) < count


def _drop_if_equal(argument: BlockArgument, rewriter: Rewriter) -> None:
    block = argument.block
    branches = [use.operation for use in block.uses]
    if not branches or not all(is_branch(branch) for branch in branches):
        return
    place = argument.index
    passed = {
        values[place]
        for branch in set(branches)
        for values, successor in zip(passed_by(branch), branch.successors, strict=True)
        if successor is block
    }
    if len(passed) != 1 or argument in passed:
        return
    rewriter.replace_uses(argument, passed.pop())
    for branch in set(branches):
        values = zip(passed_by(branch), branch.successors, strict=True)
        pass_instead(branch, [v[:place] + v[place + 1 :] if to is block else v for v, to in values])
    block.erase_arg(argument)


def _erase_unreachable_blocks(region: Region, rewriter: Rewriter) -> bool:
    pending = [region]
    has_changed = False
    while pending:
        one = pending.pop()
        if not one.blocks:
            continue
        reached = set(post_order(one.blocks[0]))
        for block in tuple(one.blocks):
            if block in reached:
                pending += [nested for op in block.ops for nested in op.regions]
                continue
            _drop_uses_of_what_is_defined(block)
            rewriter.erase_block(block)
            has_changed = True
    return has_changed


def _drop_uses_of_what_is_defined(block: Block) -> None:
    values: list[SSAValue] = [*block.args, *(result for op in block.ops for result in op.results)]
    for value in values:
        value.erase(safe_erase=False)


def _erase_dead_operations(region: Region, rewriter: Rewriter) -> bool:
    live = _Live()
    while True:
        before = live.size()
        live.propagate(region)
        if live.size() == before:
            return _erase_what_is_not(live, region, rewriter)


class _Live:
    """Operations and arguments of blocks that somebody is known to need."""

    def __init__(self) -> None:
        self.operations: set[Operation] = set()
        self.arguments: set[SSAValue] = set()

    def size(self) -> int:
        return len(self.operations) + len(self.arguments)

    def propagate(self, region: Region) -> None:
        if not region.blocks:
            return
        entry = region.blocks[0]
        for block in post_order(entry):
            for op in reversed(list(block.ops)):
                self._propagate_through(op)
            if block is not entry:
                self.arguments.update(one for one in block.args if self._is_needed(one))

    def _propagate_through(self, op: Operation) -> None:
        for region in op.regions:
            self.propagate(region)
        if op in self.operations:
            return
        if is_terminator(op):
            self.operations.add(op)
            if not is_branch(op):
                for successor in op.successors:
                    self.arguments.update(successor.args)
        elif not would_be_dead(op) or any(self._is_needed(result) for result in op.results):
            self.operations.add(op)

    def _is_needed(self, value: SSAValue) -> bool:
        return any(self._is_live_use(use) for use in value.uses)

    def _is_live_use(self, use: Use) -> bool:
        if use.operation not in self.operations:
            return False
        argument = argument_of(use)
        return argument is None or argument in self.arguments


def _erase_what_is_not(live: _Live, region: Region, rewriter: Rewriter) -> bool:
    if not region.blocks:
        return False
    has_changed = False
    blocks = list(post_order(region.blocks[0]))
    for block in blocks:
        if len(blocks) > 1 and block.last_op is not None:
            _drop_dead_operands(block.last_op, live)
        for op in reversed(list(block.ops)):
            if op in live.operations:
                for nested in op.regions:
                    has_changed |= _erase_what_is_not(live, nested, rewriter)
            else:
                has_changed = True
                rewriter.erase(op)
    for block in blocks:
        if block is not region.blocks[0]:
            for argument in reversed(block.args):
                if argument not in live.arguments:
                    block.erase_arg(argument)
    return has_changed


def _drop_dead_operands(op: Operation, live: _Live) -> None:
    if not is_branch(op):
        return
    passed = passed_by(op)
    needed = [
        [
            value
            for value, argument in zip(values, block.args, strict=True)
            if argument in live.arguments
        ]
        for values, block in zip(passed, op.successors, strict=True)
    ]
    if needed != passed:
        pass_instead(op, needed)
