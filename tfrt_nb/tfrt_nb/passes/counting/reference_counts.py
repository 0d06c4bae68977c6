"""Find the places where references must be dropped; all counting passes use this module.

Every async value starts with one reference. (The caller added the reference of an argument, and the
defining operation added the reference of a result.) The code that follows owns this reference and

- passes it to the caller, if the value is returned;
- passes it to a block argument, if a branch passes the value on;
- otherwise drops it, after the last use or on the edge of the control-flow graph after which the
  value is no longer needed.

A value may be needed more than once at such a point: it may be returned twice, or passed to a block
argument and used afterward. Such a value first gets more references. The result of a select takes
an additional reference, because it is one of the select's sources, which keep their own references.

    cf.cond_br %c, ^use, ^end           cf.cond_br %c, ^use, ^drop
  ^use:                               ^use:
    async.runtime.await %t              async.runtime.await %t
    cf.br ^end                =>        async.runtime.drop_ref %t
  ^end:                                 cf.br ^end
    return                            ^drop:
                                        async.runtime.drop_ref %t
                                        cf.br ^end
                                      ^end:
                                        return

Invariant: on each path from the definition, the references added and dropped sum to zero. The
algorithm first finds the due counts for all values of a region at once, in the unchanged
control-flow graph. Then it inserts them value by value, which may add blocks on edges.

MLIR describes the scheme at https://mlir.llvm.org/docs/Passes/#-async-runtime-ref-counting. Perceus
also drops each reference after the last use (Reinking, Xie, de Moura, and Leijen 2021, PLDI,
"Perceus: Garbage Free Reference Counting with Reuse"). Rejected alternatives:

- a drop at a fixed place by convention (`async_runtime_policy_based_ref_counting`), which is only
  as correct as its assumptions;
- a drop at the end of the function, which keeps every value alive until then;
- a tracing collector, which would have to stop the threads of native code.

Paths to an error that drop the same references share the code that drops them.

    ^error1:                            ^error1:
      async.runtime.fail_from %a          async.runtime.fail_from %a
      async.runtime.drop_ref %a           async.runtime.drop_ref %a
      async.runtime.drop_ref %b           cf.br ^drop
      async.runtime.drop_ref %c    =>   ^error2:
      cf.br ^fail                         async.runtime.fail_from %b
    ^error2:                              cf.br ^drop
      async.runtime.fail_from %b        ^drop:
      async.runtime.drop_ref %b           async.runtime.drop_ref %b
      async.runtime.drop_ref %c           async.runtime.drop_ref %c
      cf.br ^fail                         cf.br ^fail

A function that waits for many objects one after another may fail at each of them, and must then
drop all later ones. Without sharing, the size of that code would be quadratic in the number of
objects.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import ReturnLike

from tfrt_nb.dialects.async_.extensions import FAILURES, RuntimeHandleOfOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import (
    AddRefOp,
    CoroSuspendOp,
    DropRefOp,
    RuntimeAddRefOp,
    RuntimeDropRefOp,
    RuntimeSetErrorOp,
    RuntimeStoreOp,
)
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.passes.control_flow import (
    Emitter,
    ancestors,
    defining_block,
    fail,
    jump,
    operations_in,
    region_of,
    split_edge,
    terminator_of,
)
from tfrt_nb.passes.counting.liveness import Liveness, numbers_in
from tfrt_nb.passes.lowering.convert_scf_to_cf import lower_structured_control_flow
from tfrt_nb.passes.lowering.coroutines import given_results

ERROR_STARTS: frozenset[type[Operation]] = frozenset({*FAILURES, RuntimeSetErrorOp})
"""The operations that can be first in a block that handles a failure."""
MakeDrop = Callable[[SSAValue, int], Operation]
LEAST = 24
"""The minimum number of dropped references for which the paths share code.

With fewer references, separate paths are easier to read.
"""


def exits_worth_sharing(due: dict[Block, int]) -> list[dict[Block, int]]:
    """Return groups of blocks that should share the code of their drops.

    `due` contains the set of values that each block drops. The blocks of a group have the same
    successor.
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
    """Return whether the block handles an error and can share its drops.

    Such a block has one predecessor, and its successor has no arguments.
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
    """A step that drops the values in `given`, last one first, and then the values of `rest`.

    `total` is the set of all these values.
    """

    given: list[int]
    rest: _Step | None
    total: int
    users: int = 0
    block: Block | None = None


def share_exits(due: dict[Block, int], values: Sequence[SSAValue], drop: MakeDrop) -> None:
    """Make each block drop its due values, and share the code of the drops.

    All blocks have the same successor.
    """
    steps: list[_Step] = []
    first: dict[Block, _Step | None] = {}
    step: _Step | None = None
    # Start at the last block, where the fewest values are due. Each earlier block needs more of
    # them.
    order = {block: place for place, block in enumerate(region_of(next(iter(due))).blocks)}
    for block in sorted(due, key=order.__getitem__, reverse=True):
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


def _within(step: _Step | None, due: int, steps: list[_Step]) -> _Step | None:
    """Return the first step at or after `step` that drops only due values.

    If no such step exists, the function splits a step to create one.
    """
    while step is not None and step.total & ~due:
        rest = step.rest.total if step.rest else 0
        fitting = len(step.given)
        # A step's last drops can be shared if they, and the steps after it, drop only due values.
        while not rest & ~due and fitting and due >> step.given[fitting - 1] & 1:
            fitting -= 1
        if fitting < len(step.given):
            return _cut(step, fitting, steps)
        step = step.rest
    return step


def _cut(step: _Step, position: int, steps: list[_Step]) -> _Step:
    """Split a step at a position, and return the second part."""
    given = step.given[position:]
    total = sum(1 << number for number in given) | (step.rest.total if step.rest else 0)
    second = _Step(given, step.rest, total)
    step.given, step.rest = step.given[:position], second
    steps.append(second)
    return second


def _leave_by(block: Block, step: _Step | None, values: Sequence[SSAValue], drop: MakeDrop) -> None:
    """Emit the steps that have no code yet.

    A step that only `block` uses goes into `block`; any other step gets its own block.
    """
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


CALLS: frozenset[type[Operation]] = frozenset(
    {PlainCallOp, CallOp, RuntimeSpawnOp, RuntimeHandleOfOp}
)
"""The operations that take ownership of a reference to each of their async operands."""
_NOT_RETURN_LIKE = "async reference counting can't handle terminators that are not ReturnLike"


@dataclass(frozen=True)
class Counts:
    """The operation classes with which a pass counts references."""

    add: type[AddRefOp | RuntimeAddRefOp]
    drop: type[DropRefOp | RuntimeDropRefOp]


def async_values(module: ModuleOp) -> list[SSAValue]:
    """Return all async values that need counting.

    The arguments of all blocks come first, then the results of all operations.
    """
    given = {value for op in module.ops if isinstance(op, FuncOp) for value in given_results(op)}
    arguments = [value for block in module.walk_blocks() for value in block.args if is_async(value)]
    arguments = [value for value in arguments if value not in given]
    results = [value for op in operations_in(module) for value in op.results if is_async(value)]
    return [*arguments, *results]


def lower_carried_values(module: ModuleOp) -> None:
    """Lower `scf` loops and branches whose arguments or results are async values to blocks.

    Only a branch between blocks shows which code takes over a reference.
    """
    carrying = set(carrying_operations(module))
    carrying |= {outer for op in carrying for outer in structured_around(op)}
    if carrying:
        lower_structured_control_flow(module.body, lambda op: op in carrying)


def carrying_operations(module: ModuleOp) -> Iterator[Operation]:
    """Yield the `scf` operations whose regions take or return async values."""
    for op in operations_in(module):
        if op.name.startswith("scf.") and any(map(is_async, (*op.operands, *op.results))):
            # An `scf` operation without regions is the terminator in the operation that carries the
            # values.
            holder = op if op.regions else op.parent_op()
            assert holder is not None
            yield holder


def structured_around(op: Operation) -> Iterator[Operation]:
    """Return the `scf` operations around `op`, innermost first.

    They must be lowered together with `op`.
    """
    return itertools.takewhile(lambda outer: outer.name.startswith("scf."), ancestors(op))


def take_references_for_calls(value: SSAValue, counts: Counts) -> None:
    """Take a reference for each use that takes ownership of the value.

    Calls, stores into a value, and handles take ownership.
    """
    calls: dict[Operation, int] = {}
    for use in value.uses:
        if type(use.operation) in CALLS or (
            type(use.operation) is RuntimeStoreOp and use.index == 0
        ):
            calls[use.operation] = calls.get(use.operation, 0) + 1
    for call, uses in calls.items():
        Emitter.in_front_of(call)(counts.add(value, uses))


def drop_references(
    values: Sequence[SSAValue], counts: Counts, *, sharing_exits: bool = False
) -> None:
    """Insert the counts of `values` by the rules in the module's docstring.

    With `sharing_exits`, paths to an error that drop many references share code; see
    `exits_worth_sharing`.
    """
    by_region: dict[Region, list[SSAValue]] = {}
    for value in values:
        by_region.setdefault(region_of(defining_block(value)), []).append(value)
    for region, made in by_region.items():
        _Dropping(region, made, counts).run(sharing_exits)
    # Insert the references of selects last, right after each select and before the existing drops.
    # The select may be the last use of its sources, and the reference must be taken before a drop
    # of the sources.
    for value in values:
        if isinstance(value.owner, arith.SelectOp):
            Emitter.behind(value.owner)(counts.add(value, 1))


class _Dropping:
    """Finds the counts that are due in a region, and then inserts them.

    The class first records each count as a step, which belongs to one value and one block.
    """

    def __init__(self, region: Region, values: Sequence[SSAValue], counts: Counts) -> None:
        self.values = values
        self.counts = counts
        self.liveness = Liveness(region, values)
        self._steps: list[tuple[int, int, Callable[[], Emitter], int]] = []
        self._split: dict[tuple[Block, int], Block] = {}

    def run(self, sharing_exits: bool) -> None:
        """Find and insert all due counts."""
        exits: dict[Block, int] = {}
        ways: dict[Block, tuple[int, Block, int]] = {}
        for order, block in enumerate(self.liveness.blocks):
            for edge, due in enumerate(self._due_on_edges(order, block)):
                target = terminator_of(block).successors[edge]
                if sharing_exits and is_exit(target):
                    exits[target], ways[target] = due, (order, block, edge)
                else:
                    self._drop_on_edge(order, block, edge, due)
        shared = exits_worth_sharing(exits)
        sharing = set().union(*shared)
        # The order of this set does not matter, because the steps are sorted before they are
        # inserted.
        for block in exits.keys() - sharing:
            self._drop_on_edge(*ways[block], exits[block])
        for order, block in enumerate(self.liveness.blocks):
            # The shared code below also drops the values that these exits use last.
            if block not in sharing:
                self._behind_last_users(order, block)
        for number, _, where, added in sorted(self._steps, key=itemgetter(0, 1)):
            value = self.values[number]
            where()(self.counts.add(value, added) if added else self.counts.drop(value, 1))
        for group in shared:
            used_last = {b: self.liveness.live_in[b] & ~self.liveness.live_out(b) for b in group}
            due_at_end = {block: due | used_last[block] for block, due in group.items()}
            share_exits(due_at_end, self.values, self.counts.drop)

    def _behind_last_users(self, order: int, block: Block) -> None:
        """Record drops of the values that are live in `block` but not after it."""
        liveness = self.liveness
        held = liveness.live_in[block] | liveness.made[block]
        for number in numbers_in(held & ~liveness.live_out(block) & ~liveness.at_end[block]):
            user = liveness.last_user(block, number)
            if user is not None:
                self._add_step(number, order, functools.partial(Emitter.behind, user))
            elif liveness.made[block] >> number & 1:
                definition = functools.partial(_behind_definition, self.values[number])
                self._add_step(number, order, definition)

    def _add_step(
        self, number: int, order: int, where: Callable[[], Emitter], added: int = 0
    ) -> None:
        """Record a step for the value with this number.

        The step drops one reference, or adds `added` references if `added` is not 0.
        """
        self._steps.append((number, order, where, added))

    def _due_on_edges(self, order: int, block: Block) -> list[int]:
        """Return, for each edge out of the block, the values that are not needed after the edge."""
        liveness = self.liveness
        used = liveness.at_end[block]
        if block.last_op is None or not (used or block.last_op.successors):
            return []
        branch = block.last_op
        for number in numbers_in(used):
            if branch.has_trait(ReturnLike, value_if_unregistered=False):
                returned = sum(operand is self.values[number] for operand in branch.operands)
                if returned > 1:
                    where = functools.partial(Emitter.in_front_of, branch)
                    self._add_step(number, order, where, returned - 1)
            elif not isinstance(branch, cf.BranchOp | cf.ConditionalBranchOp | cf.SwitchOp):
                fail(branch, _NOT_RETURN_LIKE)
        held = liveness.live_out(block) | used
        # One reference exists before the branch, but each edge may need a different number.
        due = []
        for edge, target in enumerate(branch.successors):
            live_in = liveness.live_in[target]
            dropped = held & ~live_in
            for number in numbers_in(used):
                value = self.values[number]
                passed = sum(operand is value for operand in branch_operands(branch, edge))
                needed = passed + (live_in >> number & 1)
                # The existing reference satisfies the first need, so add references only for the
                # other needs.
                if needed > 0:
                    dropped &= ~(1 << number)
                if needed > 1:
                    where = functools.partial(self._in_front_of_target, block, edge)
                    self._add_step(number, order, where, needed - 1)
            # The coroutine's frame holds the reference to a value that only the resumed coroutine
            # needs, so the other edges must not drop it.
            due.append(0 if isinstance(branch, CoroSuspendOp) else dropped)
        return due

    def _drop_on_edge(self, order: int, block: Block, edge: int, due: int) -> None:
        for number in numbers_in(due):
            self._add_step(number, order, functools.partial(self._on_edge, block, edge))

    def _in_front_of_target(self, block: Block, edge: int) -> Emitter:
        """Return an emitter for code that runs only on this edge.

        The code runs before the target gets its arguments. An argument may be the same object as
        the value, and the target may drop its reference immediately.
        """
        branch = terminator_of(block)
        if (block, edge) in self._split:
            return Emitter.in_front_of(terminator_of(self._split[block, edge]))
        if len(branch.successors) > 1 and branch.successors[edge].args:
            return Emitter.at_start(self._split_edge(block, edge), branch.location)
        return self._on_edge(block, edge)

    def _on_edge(self, block: Block, edge: int) -> Emitter:
        """Return an emitter for code that runs only on this edge.

        The place is before a plain branch, in the edge's target, or in a new block.
        """
        branch = terminator_of(block)
        if len(branch.successors) == 1:
            return Emitter.in_front_of(branch)
        target = branch.successors[edge]
        if len(list(target.uses)) > 1:
            target = self._split_edge(block, edge)
        return Emitter.at_start(target, branch.location)

    def _split_edge(self, block: Block, edge: int) -> Block:
        between = split_edge(terminator_of(block), edge)
        self._split[block, edge] = between
        return between


def _behind_definition(value: SSAValue) -> Emitter:
    owner = value.owner
    if isinstance(owner, Block):
        first = owner.first_op
        return Emitter.at_start(owner, UnknownLoc() if first is None else first.location)
    return Emitter.behind(owner)
