"""Ways to an error that drop the same references share the code that does it.

    ^error1:                                   ^error1:
      async.runtime.fail_from %a                 async.runtime.fail_from %a
      async.runtime.drop_ref %a                  async.runtime.drop_ref %a
      async.runtime.drop_ref %b                  cf.br ^drop
      async.runtime.drop_ref %c          =>    ^error2:
      cf.br ^fail                                async.runtime.fail_from %b
    ^error2:                                     cf.br ^drop
      async.runtime.fail_from %b               ^drop:
      async.runtime.drop_ref %b                  async.runtime.drop_ref %b
      async.runtime.drop_ref %c                  async.runtime.drop_ref %c
      cf.br ^fail                                cf.br ^fail

A function that waits for many objects one after the other may fail at each, and has to drop all
that come later: written out, that is more code than the square of their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.dialects.async_.extensions import FAILURES
from tfrt_nb.dialects.async_.runtime import RuntimeSetErrorOp
from tfrt_nb.passes.control_flow import Emitter, jump, region_of, terminator_of
from tfrt_nb.passes.counting.liveness import numbers_in

ERROR_STARTS: frozenset[type[Operation]] = frozenset({*FAILURES, RuntimeSetErrorOp})
"""The operations at the start of a block that continues after a failure."""
MakeDrop = Callable[[SSAValue, int], Operation]
LEAST = 24
"""This many dropped references are worth sharing; below, each way is easier to read on its own."""


def exits_worth_sharing(due: dict[Block, int]) -> list[dict[Block, int]]:
    """Group the blocks that should share an exit, by their target; each has the set of values that
    it drops.
    """
    by_target: dict[Block, dict[Block, int]] = {}
    for block, values in due.items():
        by_target.setdefault(terminator_of(block).successors[0], {})[block] = values
    return [
        group
        for group in by_target.values()
        if len(group) > 1 and sum(values.bit_count() for values in group.values()) >= LEAST
    ]


def is_exit(block: Block) -> bool:
    """Whether one branch leads to the block, which is about an error, and on to a block without
    arguments.
    """
    end = block.last_op
    return (
        type(block.first_op) in ERROR_STARTS
        and isinstance(end, cf.BranchOp)
        and not end.successor.args
        and len(list(block.uses)) == 1
    )


@dataclass(eq=False)
class _Step:
    """Drops some values, the last ones first, and then what `rest` does; `total` are all of
    them.
    """

    given: list[int]
    rest: _Step | None
    total: int
    users: int = 0
    block: Block | None = None


def share_exits(due: dict[Block, int], values: Sequence[SSAValue], drop: MakeDrop) -> None:
    """Let the blocks, which lead to the same one, drop the values that are due in each."""
    steps: list[_Step] = []
    first: dict[Block, _Step | None] = {}
    step: _Step | None = None
    # From the end, where the least is due: what comes before adds to it.
    for block in sorted(due, key=_places(due), reverse=True):
        step = _within(step, due[block], steps)
        more = due[block] & ~(step.total if step else 0)
        if more:
            step = _Step(sorted(numbers_in(more), reverse=True), step, due[block])
            steps.append(step)
        first[block] = step
    for user in (*first.values(), *(step.rest for step in steps)):
        if user is not None:
            user.users += 1
    for block, step in first.items():
        _leave_by(block, step, values, drop)


def _places(due: dict[Block, int]) -> Callable[[Block], int]:
    region = region_of(next(iter(due)))
    return {block: place for place, block in enumerate(region.blocks)}.__getitem__


def _within(step: _Step | None, due: int, steps: list[_Step]) -> _Step | None:
    """The first step at or after `step` that drops only what is due; made if necessary."""
    while step is not None and step.total & ~due:
        rest = step.rest.total if step.rest else 0
        fitting = len(step.given)
        while not rest & ~due and fitting and due >> step.given[fitting - 1] & 1:
            fitting -= 1
        if fitting < len(step.given):
            return _cut(step, fitting, steps)
        step = step.rest
    return step


def _cut(step: _Step, position: int, steps: list[_Step]) -> _Step:
    """Make two steps of one; the second of them."""
    given = step.given[position:]
    total = sum(1 << number for number in given) | (step.rest.total if step.rest else 0)
    second = _Step(given, step.rest, total)
    step.given, step.rest = step.given[:position], second
    steps.append(second)
    return second


def _leave_by(block: Block, step: _Step | None, values: Sequence[SSAValue], drop: MakeDrop) -> None:
    """Write the missing steps; those that only `block` takes go into it."""
    branch = terminator_of(block)
    target = branch.successors[0]
    while step is not None:
        if step.block is not None:
            branch.successors[0] = step.block
            return
        if step.users > 1:
            step.block = Block()
            region_of(target).insert_block_before(step.block, target)
            branch.successors[0] = step.block
            branch = Emitter.at_end(step.block, branch.location)(jump(target))
        emit = Emitter.in_front_of(branch)
        for number in step.given:
            emit(drop(values[number], 1))
        step = step.rest
