"""Count references automatically on high-level operations, as the dialect's review D90716 proposed.

    %t = async.execute {                    async.add_ref %v {count = 1 : i32}
      async.await %v                  =>    %t = async.execute {
      async.yield                             async.await %v
    }                                         async.drop_ref %v {count = 1 : i32}
                                              async.yield
                                            }
                                            async.drop_ref %v {count = 1 : i32}

Code after a task may run before the task does, so the order of operations does not show which use
is the last. Therefore, each task that uses a value holds its own reference, which it takes right
before it starts and drops at its end. A use is an operand of the task or a use in its body. Tasks
that enclose such a task also hold references. `reference_counts` places all other counts.

A call takes ownership of its async arguments, so each use in a call takes a reference, too.

If a task's body fails, control does not reach the drops at its end. The paths to the error appear
only when the task becomes a coroutine. After that lowering, `async-drop-on-error-paths` adds the
drops that these paths skip.

If the code around a task would drop a reference right after the task takes one, the pass
`async-ref-counting-optimization` lets the task take over the existing reference.

    async.add_ref %v {count = 1 : i32}
    %t = async.execute {                    =>    %t = async.execute {
      async.await %v                                async.await %v
      async.drop_ref %v {count = 1 : i32}           async.drop_ref %v {count = 1 : i32}
      async.yield                                   async.yield
    }                                             }
    async.drop_ref %v {count = 1 : i32}

This pass runs after `async-ref-counting`, on the same high-level operations. It erases an add and a
later drop in the same block if their counts are equal, with one exception. If a task or a call uses
the value between the two operations, and any other operation uses it after that task or call, both
operations stay. Otherwise, the task or the callee might already have dropped the last reference.
`async-runtime-ref-counting-opt` does the same for calls.

The counting passes leave counts inside loops, because lowering may add early exits to a loop. After
the lowering, `async-hoist-ref-counts` moves them out of loops without early exits.

`async-runtime-ref-counting-opt` erases an `add_ref` and a `drop_ref` that cancel.

    async.runtime.add_ref %t {count = 1 : i64}
    call @take(%t) : (!async.token) -> ()           =>    call @take(%t) : (!async.token) -> ()
    async.runtime.drop_ref %t {count = 1 : i64}

The callee takes over the caller's reference. The rule is the same as above: the pair stays if a
call uses the value between the two operations and any other operation uses it after that call. Each
drop cancels one add. The reference that the result of a select takes is never erased.

If a loop passes the same value to a call in each iteration, `async-hoist-ref-counts` takes the
references for all iterations at once.

    scf.for %i = %lo to %hi step %one {             %n = max(%hi - %lo, 0)
      async.runtime.add_ref %t {count = 1}          async.runtime.add_refs %t, %n
      call @take(%t)                          =>    scf.for %i = %lo to %hi step %one {
    }                                                 call @take(%t)
                                                    }

The review D90716 asks for this: "if you had inc_rc and dec_rc explicit, and both were in a loop,
you could hoist the increments". Each iteration passes on one reference, so one operation before the
loop adds as many references as the loop has iterations. If that number is a constant, it is the
`count` of an `async.runtime.add_ref`. Such a loop contains no drops, because tasks and callees drop
the references they own.

A loop that is still an `scf.for` after the lowering has no early exit, so it passes on all
references that were added before it. A loop that checks for cancellation, calls a function that may
fail, or awaits is no longer structured then, and its counts stay in its blocks.
`async-interruptible-loops` cuts long loops that start tasks into structured pieces. Counts that the
program itself contains are not moved.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar, TypeAlias, TypeGuard

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.arith import SelectOp
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeAddRefsOp,
    RuntimeCheckInterruptOp,
    RuntimeCheckOp,
)
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    AddRefOp,
    DropRefOp,
    RuntimeAddRefOp,
    RuntimeDropRefOp,
)
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.control_flow import (
    Emitter,
    ancestors,
    defining_block,
    erase,
    fail,
    integer_of,
    operations_in,
    region_of,
)
from tfrt_nb.passes.counting.liveness import ancestor_in
from tfrt_nb.passes.counting.reference_counts import (
    CALLS,
    Counts,
    async_values,
    carrying_operations,
    drop_references,
    lower_carried_values,
    structured_around,
    take_references_for_calls,
)
from tfrt_nb.passes.safety.interruptible_loops import trip_count

_COUNTS = Counts(AddRefOp, DropRefOp)


@dataclass(frozen=True)
class AsyncRefCounting(ModulePass):
    """Adds `async.add_ref` and `async.drop_ref`."""

    name: ClassVar[str] = "async-ref-counting"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in op.walk():
            if isinstance(nested, AddRefOp | DropRefOp | RuntimeAddRefOp | RuntimeDropRefOp):
                fail(nested, "explicit reference counting is not supported")
        for carrying in carrying_operations(op):
            *_, outermost = carrying, *structured_around(carrying)
            # A task's body must stay a single block until it is outlined, so a loop in it cannot be
            # lowered.
            if isinstance(outermost.parent_op(), ExecuteOp):
                text = f"'{carrying.name}' in a task carries async values"
                fail(
                    carrying,
                    f"{text}: lower the program first, and run async-runtime-ref-counting instead",
                )
        lower_carried_values(op)
        values = async_values(op)
        # The references that tasks and calls take are uses of the value, so they must exist before
        # the drops are placed.
        for value in values:
            for task in _tasks_using(value):
                Emitter.in_front_of(task)(AddRefOp(value))
                Emitter.in_front_of(task.terminator)(DropRefOp(value))
            take_references_for_calls(value, _COUNTS)
        drop_references(values, _COUNTS)


def _tasks_using(value: SSAValue) -> list[ExecuteOp]:
    """Return the tasks that use `value`, and the tasks that enclose them inside the value's region.

    Each task appears once.
    """
    region = region_of(defining_block(value))
    tasks: dict[ExecuteOp, None] = {}
    for use in value.uses:
        around = itertools.takewhile(lambda op: op is not region.parent, ancestors(use.operation))
        for op in (use.operation, *around):
            if isinstance(op, ExecuteOp):
                tasks[op] = None
    return list(tasks)


@dataclass(frozen=True)
class AsyncRefCountingOptimization(ModulePass):
    """Erases pairs of counts around tasks if the two counts cancel."""

    name: ClassVar[str] = "async-ref-counting-optimization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_pairs(op, _COUNTS, CALLS | {ExecuteOp})


_Counting: TypeAlias = AddRefOp | RuntimeAddRefOp | DropRefOp | RuntimeDropRefOp


@dataclass(frozen=True)
class AsyncRuntimeRefCountingOpt(ModulePass):
    """Erases pairs of counts that cancel."""

    name: ClassVar[str] = "async-runtime-ref-counting-opt"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_pairs(op, Counts(RuntimeAddRefOp, RuntimeDropRefOp), CALLS)


def erase_pairs(module: ModuleOp, pairs: Counts, takers: AbstractSet[type[Operation]]) -> None:
    """Erase each pair of an add and a drop that cancels within one block.

    The operations whose types are in `takers` take ownership of a reference.
    """
    places = {nested: place for place, nested in enumerate(operations_in(module))}
    for value in async_values(module):
        if isinstance(value.owner, SelectOp):
            # The result is one of the select's sources, and the program may drop that source
            # between the two counting operations. Then only the added reference keeps the result
            # alive.
            continue
        for users in _users_by_block(value, pairs).values():
            for cancelled in _cancelling(sorted(users, key=places.__getitem__), pairs, takers):
                erase(cancelled)


def _users_by_block(value: SSAValue, pairs: Counts) -> dict[Block, set[Operation]]:
    """Return the users of `value`, for each block that has a counting operation for it.

    If a user is nested in an operation of the block, that operation counts as the user.
    """
    blocks = {
        use.operation.parent: None
        for use in value.uses
        if isinstance(use.operation, pairs.add) and use.operation.parent is not None
    }
    return {block: _users_in(block, value) for block in blocks}


def _users_in(block: Block, value: SSAValue) -> set[Operation]:
    region = region_of(block)
    return {
        ancestor_in(region, use.operation)
        for use in value.uses
        if region.find_ancestor_block_in_region(use.operation.parent or block) is block
    }


def _cancelling(
    users: Sequence[Operation], pairs: Counts, takers: AbstractSet[type[Operation]]
) -> list[Operation]:
    """Return the counting operations that cancel in pairs.

    `users` contains all users of one value in one block, in order.
    """
    cancelled: list[Operation] = []
    drops = [(at, op) for at, op in enumerate(users) if _is_counted(op, pairs.drop)]
    ends = _ends(users, takers)
    for index, add in enumerate(users):
        if not _is_counted(add, pairs.add):
            continue
        for number in range(bisect(drops, index, key=itemgetter(0)), len(drops)):
            place, drop = drops[number]
            if place > ends[index]:
                break
            if add.count == drop.count:
                cancelled += (add, drop)
                del drops[number]
                break
    return cancelled


def _is_counted(op: Operation, kind: type[_Counting]) -> TypeGuard[_Counting]:
    """Return whether a pass inserted `op`, and `op` is of this kind."""
    return type(op) is kind and BY_HAND not in op.attributes


def _ends(users: Sequence[Operation], takers: AbstractSet[type[Operation]]) -> list[int]:
    """Return, for each user, the position of the first user that follows a later taker.

    The value may no longer exist at that position, so a pair must not enclose it.
    """
    first_other = end = len(users)
    ends = []
    for place in range(len(users) - 1, -1, -1):
        ends.append(end)
        user = users[place]
        if type(user) in takers:
            end = first_other
        else:
            first_other = place
            # An operation with regions may use the value again after a taker in one of its regions.
            if any(type(nested) in takers for nested in operations_in(user)):
                end = place
    return ends[::-1]


_LEAVES = (RuntimeCheckInterruptOp, RuntimeCheckOp, cf.AssertOp)
"""The operations that later passes lower to exits of a loop."""


@dataclass(frozen=True)
class HoistRefCounts(ModulePass):
    """Moves `async.runtime.add_ref` out of loops if the value is defined outside the loop."""

    name: ClassVar[str] = "async-hoist-ref-counts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Process inner loops first: the outer loop can then also move out the counts that came from
        # an inner loop.
        for loop in reversed(operations_in(op)):
            if isinstance(loop, scf.ForOp) and not any(
                isinstance(inner, _LEAVES) for inner in operations_in(loop)
            ):
                _hoist(loop)


def _hoist(loop: scf.ForOp) -> None:
    counts = [
        op
        for op in loop.body.block.ops
        if type(op) is RuntimeAddRefOp
        and BY_HAND not in op.attributes
        and not loop.is_ancestor(defining_block(op.operand))
    ]
    step, trips = integer_of(loop.step), trip_count(loop)
    # `_rounds` divides by the step, so the step must be known to be positive.
    if not counts or step is None or step <= 0:
        return
    totals: dict[SSAValue, int] = {}
    for count in counts:
        totals[count.operand] = totals.get(count.operand, 0) + count.count.value.data
        erase(count)
    emit = Emitter.in_front_of(loop)
    if trips is None:
        rounds = _rounds(emit, loop, step)
        for value, each in totals.items():
            number = rounds if each == 1 else emit(arith.MuliOp(rounds, emit.integer(each))).result
            emit(RuntimeAddRefsOp(value, number))
    # A loop without iterations passes on no reference.
    elif trips > 0:
        for value, each in totals.items():
            emit(RuntimeAddRefOp(value, each * trips))


def _rounds(emit: Emitter, loop: scf.ForOp, step: int) -> SSAValue:
    """Return the number of iterations as an `index`.

    The formula is `lower < upper ? (upper - lower - 1) / step + 1 : 0`. The arithmetic is unsigned,
    because the difference of the bounds may be too large for a signed number.
    """
    type_ = loop.lb.type
    count = emit(arith.SubiOp(loop.ub, loop.lb)).result
    if step != 1:
        one = emit.integer(1, type_)
        steps = emit(arith.DivUIOp(emit(arith.SubiOp(count, one)), loop.step))
        count = emit(arith.AddiOp(steps, one)).result
    runs = emit(arith.CmpiOp(loop.lb, loop.ub, "slt"))
    rounds = emit(arith.SelectOp(runs, count, emit.integer(0, type_))).result
    if isinstance(type_, IndexType):
        return rounds
    if isinstance(type_, IntegerType) and type_.width.data < 64:
        # The count is unsigned, but a cast to `index` would extend its sign.
        rounds = emit(arith.ExtUIOp(rounds, i64)).result
    return emit(arith.IndexCastOp(rounds, IndexType())).result
