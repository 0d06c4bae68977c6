"""Count references automatically on the runtime operations.

    %t = call @make() : () -> !async.token        %t = call @make() : () -> !async.token
    call @take(%t) : (!async.token) -> ()         async.runtime.add_ref %t {count = 1 : i64}
    async.runtime.await %t               =>       call @take(%t) : (!async.token) -> ()
    return                                        async.runtime.await %t
                                                  async.runtime.drop_ref %t {count = 1 : i64}

A call takes ownership of its async arguments, so each use in a call takes a reference. Each async
result of a call comes with a reference. `reference_counts` places all other counts.

As in MLIR, the pass counts all values, including those for which the program itself adds and drops
references. With `leave_counted`, the pass skips those values, and the program must do all of their
counting. The pass runs after both lowerings, because paths to errors do not exist before then.

A program may contain counts in addition to the automatic ones. They are marked as "on top".

    %t = async.execute { ... }
    async.runtime.add_ref %t {count = 1 : i64} : !async.token      <- on top
    async.await %t : !async.token
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token     <- on top

If a program contains tasks or awaits, no counting pass has run yet, because counting follows their
lowering. The counts in such a program are on top of the automatic ones.

If a program has only runtime operations, it may be the output of a counting pass. If it drops more
references to a value than it adds, or passes a reference on, the program does all of the counting
for that value, and the pass adds nothing.

The pass `async-runtime-policy-based-ref-counting` needs no liveness analysis. It adds one drop at
the place where a value is, by convention, needed last. It assumes that each token is awaited or
added to a group once, that each value and group is awaited once, and that nothing is passed to
calls. It drops the reference

- right after the definition, if there is no use;
- after `is_error` of a token or group, because the await is over;
- after `load` of a value;
- after `add_to_group` of a token.

The result is only as correct as the assumptions: if an awaited value is an error, its load is never
reached, and the reference leaks. `async-runtime-ref-counting` makes no such assumptions.

The pass `async-drop-on-error-paths` completes paths to an error. It drops the references there that
the normal path would drop later.

    ^b:                                        ^b:
      cf.cond_br %failed, ^error, ^go            cf.cond_br %failed, ^error, ^go
    ^error:                                    ^error:
      async.runtime.inherit_error ...            async.runtime.inherit_error ...
      cf.br ^set_error                   =>      async.runtime.drop_ref %t
    ^go:                                         cf.br ^set_error
      async.runtime.await %t                   ^go:
      async.runtime.drop_ref %t                  ...

`async-ref-counting` cannot place these drops: it works on the high-level operations, and the paths
appear only when tasks become coroutines and assertions become branches. A program that counts by
itself does not cover these paths, either. Counts are balanced on every normal path, so the drops on
any one normal path are the missing ones. The pass follows a normal path until it joins the path to
the error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_ import proposal
from tfrt_nb.dialects.async_.extensions import (
    RuntimeIsInterruptedOp,
)
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    OF_OWN,
    ON_TOP,
    CoroSuspendOp,
    RuntimeAddRefOp,
    RuntimeAddToGroupOp,
    RuntimeCreateOp,
    RuntimeDropRefOp,
    RuntimeIsErrorOp,
    RuntimeLoadOp,
)
from tfrt_nb.dialects.async_.tasks import AwaitAllOp, AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import TokenType, ValueType, is_async, operations_of
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.passes.control_flow import (
    Emitter,
    blocks_behind,
    fail,
    operations_in,
    split_edge,
    terminator_of,
)
from tfrt_nb.passes.counting.reference_counts import (
    ERROR_STARTS,
    Counts,
    async_values,
    drop_references,
    lower_carried_values,
    take_references_for_calls,
)
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE
from tfrt_nb.passes.lowering.outline import EARLY_COUNTING

_COUNTING = frozenset({RuntimeAddRefOp, RuntimeDropRefOp})
_NOT_COUNTED_YET = frozenset({AwaitAllOp, AwaitOp, ExecuteOp})
"""The operations that show that no counting pass has run on a program."""


@dataclass(frozen=True)
class MarkExplicitCounts(ModulePass):
    """Marks each `async.runtime.add_ref` and `drop_ref` that the source program contains."""

    name: ClassVar[str] = "async-mark-explicit-counts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        counts = [op for op in operations if type(op) in _COUNTING]
        is_lowered = not any(type(op) in _NOT_COUNTED_YET for op in operations)
        for count in operations:
            if type(count) in _COUNTING | EARLY_COUNTING:
                count.attributes[BY_HAND] = UnitAttr()
        for count in counts:
            if not is_lowered or _is_balanced(count.operands[0]):
                count.attributes[ON_TOP] = UnitAttr()
                is_own = isinstance(count.operands[0].owner, RuntimeCreateOp)
                if isinstance(count, RuntimeDropRefOp) and is_own and count.count.value.data == 1:
                    count.attributes[OF_OWN] = UnitAttr()


def is_counted_by_hand(value: SSAValue) -> bool:
    """Return whether the program itself counts `value`.

    The result of a select is counted by hand if one of the select's sources is.
    """
    users = (use.operation for use in value.uses)
    if any(type(user) in _COUNTING and ON_TOP not in user.attributes for user in users):
        return True
    return isinstance(select := value.owner, arith.SelectOp) and (
        is_counted_by_hand(select.lhs) or is_counted_by_hand(select.rhs)
    )


def _is_balanced(value: SSAValue) -> bool:
    """Return whether the program drops as many references as it adds, and passes none on.

    The result of a select has no reference of its own, so the function checks the select's sources.
    """
    if isinstance(select := value.owner, arith.SelectOp):
        return _is_balanced(select.lhs) and _is_balanced(select.rhs)
    balance = 0
    for use in value.uses:
        match use.operation:
            case RuntimeAddRefOp() as op:
                balance += op.count.value.data
            case RuntimeDropRefOp() as op:
                balance -= op.count.value.data
            case op if isinstance(op, PlainCallOp) or op.has_trait(IsTerminator):
                return False
    return balance == 0


_COUNTS = Counts(RuntimeAddRefOp, RuntimeDropRefOp)

_WAITING = (ExecuteOp, YieldOp, AwaitOp, AwaitAllOp, *operations_of(proposal))
"""Tasks and awaits, and the operations of the 2020 proposal that become tasks and awaits."""


@dataclass(frozen=True)
class AsyncRuntimeRefCounting(ModulePass):
    """Adds `async.runtime.add_ref` and `async.runtime.drop_ref`.

    With `share_exits`, paths to an error that drop many references share the code that drops them.
    With `leave_counted`, the pass skips values that the program itself counts.
    """

    name: ClassVar[str] = "async-runtime-ref-counting"

    share_exits: bool = False
    leave_counted: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_high_level_operations(op)
        lower_carried_values(op)
        left = is_counted_by_hand if self.leave_counted else lambda _: False
        values = [value for value in async_values(op) if not left(value)]
        for value in values:
            take_references_for_calls(value, _COUNTS)
        drop_references(values, _COUNTS, sharing_exits=self.share_exits)


def refuse_high_level_operations(module: ModuleOp) -> None:
    """Reject tasks, awaits, and async calls.

    Their lowering changes which code runs on which thread, and which code owns an argument. As in
    MLIR, the error names the first task or await if the module has one.
    """
    operations = operations_in(module)
    found = any(type(op) in _WAITING for op in operations)
    if not found and not any(
        type(op) is CallOp and any(map(is_async, op.operands)) for op in operations
    ):
        return
    kinds = _WAITING if found else (CallOp,)
    first = next(op for op in module.walk(region_first=True) if type(op) in kinds)
    fail(first, "async operations must be lowered to async runtime operations")


@dataclass(frozen=True)
class AsyncRuntimePolicyBasedRefCounting(ModulePass):
    """Adds `async.runtime.drop_ref` by rule."""

    name: ClassVar[str] = "async-runtime-policy-based-ref-counting"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refuse_high_level_operations(op)
        for value in async_values(op):
            for emit in _places(value):
                emit(RuntimeDropRefOp(value))


def _places(value: SSAValue) -> list[Emitter]:
    if value.first_use is None:
        owner = value.owner
        if not isinstance(owner, Block):
            return [Emitter.behind(owner)]
        assert owner.first_op is not None
        return [Emitter.at_start(owner, owner.first_op.location)]
    users = [use.operation for use in value.uses]
    return [Emitter.behind(user) for user in users if _gives_up(user, value)]


def _gives_up(user: Operation, value: SSAValue) -> bool:
    match user:
        case RuntimeIsErrorOp():
            return not isinstance(value.type, ValueType)
        case RuntimeLoadOp():
            return True
        case RuntimeAddToGroupOp():
            return user.operand is value and isinstance(value.type, TokenType)
        case _:
            return False


@dataclass(frozen=True)
class DropOnErrorPaths(ModulePass):
    """Completes the counts of `async-ref-counting` after the lowering to coroutines.

    With `explicit_only`, the pass completes only the counts that the source program contains. A
    later pass then counts the other values.
    """

    name: ClassVar[str] = "async-drop-on-error-paths"

    explicit_only: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [nested for nested in op.body.block.ops if isinstance(nested, FuncOp)]
        fallible = {f.sym_name.data for f in functions if FALLIBLE in f.attributes}
        for function in functions:
            counts = (
                isinstance(one, RuntimeAddRefOp | RuntimeDropRefOp)
                for one in operations_in(function)
            )
            if self.explicit_only and not any(counts):
                continue
            errors = set(_error_blocks(function, fallible))
            # Find all edges before `_drop` adds blocks to the function.
            for branch, edge, normal in list(_error_edges(function, errors)):
                path = _path(normal, branch.successors[edge], errors)
                if due := _due(branch, path, self.explicit_only):
                    # The new block handles an error, so later branches to it are paths to an error,
                    # too.
                    errors.add(_drop(branch, edge, due, on_top=self.explicit_only))


def _error_blocks(function: FuncOp, fallible: AbstractSet[str]) -> Iterator[Block]:
    """Yield the blocks at which paths to an error start."""
    for block in function.body.blocks:
        if type(block.first_op) in ERROR_STARTS:
            yield block
        elif _asks_for_failure(terminator_of(block), fallible):
            yield terminator_of(block).successors[0]


def _error_edges(
    function: FuncOp, error_blocks: AbstractSet[Block]
) -> Iterator[tuple[Operation, int, Block]]:
    """Yield each branch that has one edge to an error.

    Each item has the branch, the index of that edge, and the block where the normal path continues.
    """
    for block in function.body.blocks:
        branch = terminator_of(block)
        # No edge of a suspension is a path to an error: a coroutine tests for errors after it
        # resumes.
        if isinstance(branch, CoroSuspendOp) or len(branch.successors) < 2:
            continue
        errors = [edge for edge, target in enumerate(branch.successors) if target in error_blocks]
        normal = [target for target in branch.successors if target not in error_blocks]
        if len(errors) == 1 and normal:
            yield branch, errors[0], normal[0]


def _asks_for_failure(branch: Operation, fallible: AbstractSet[str]) -> bool:
    """Return whether `branch` tests for a failed call or a cancelled run.

    The first target of such a branch is the path to the error.
    """
    if not isinstance(branch, cf.ConditionalBranchOp):
        return False
    asked = branch.cond.owner
    return isinstance(asked, RuntimeIsInterruptedOp) or (
        isinstance(asked, PlainCallOp)
        and asked.callee.root_reference.data in fallible
        and branch.cond is asked.results[0]
    )


def _path(start: Block, error: Block, errors: AbstractSet[Block]) -> list[Block]:
    """Return a shortest normal path from `start` to a return, or to a block on the error's path."""
    met = {error} | blocks_behind(error)
    pending = deque([[start]])
    seen = {start}
    while pending:
        path = pending.popleft()
        if path[-1] in met:
            return path[:-1]
        if not terminator_of(path[-1]).successors:
            return path
        targets = [target for target in _normal_successors(path[-1], errors) if target not in seen]
        seen.update(targets)
        pending.extend([*path, target] for target in targets)
    # Every normal path is an endless loop, so no drop follows.
    return []


def _normal_successors(block: Block, errors: AbstractSet[Block]) -> list[Block]:
    branch = terminator_of(block)
    if isinstance(branch, CoroSuspendOp):
        return [branch.resume]
    return [target for target in branch.successors if target not in errors]


def _drop(branch: Operation, edge: int, due: dict[SSAValue, int], *, on_top: bool) -> Block:
    """Drop the due references on one edge, and return the block that contains the drops.

    Only that edge leads to the block.
    """
    block = branch.successors[edge]
    if len(block.predecessors()) > 1:
        block = split_edge(branch, edge)
    emit = Emitter.in_front_of(terminator_of(block))
    for value, count in due.items():
        stays_on_top = on_top and not is_counted_by_hand(value)
        drop = emit(RuntimeDropRefOp(value, count))
        if stays_on_top:
            drop.attributes[ON_TOP] = UnitAttr()
    return block


def _due(branch: Operation, path: list[Block], explicit_only: bool) -> dict[SSAValue, int]:
    """Return how many references to earlier values the path drops, for each value.

    `path` starts at `branch`. A drop counts as 1, and an add as -1. An argument of a block on the
    path counts as the value that the branch passes to that argument.
    """
    due: dict[SSAValue, int] = {}
    passed: dict[SSAValue, SSAValue] = {}
    made: set[SSAValue] = set()
    for block in path:
        edge = list(branch.successors).index(block)
        for argument, value in zip(block.args, branch_operands(branch, edge), strict=True):
            passed[argument] = passed.get(value, value)
        for op in block.ops:
            made.update(op.results)
            for value, count in _dropped(op, passed, explicit_only):
                source = passed.get(value, value)
                # If the program itself counts only the block argument, a later pass counts the
                # value.
                is_left = explicit_only and source is not value and not is_counted_by_hand(source)
                if source not in made and not is_left:
                    due[source] = due.get(source, 0) + count
        branch = terminator_of(block)
    return {value: count for value, count in due.items() if count > 0}


def _dropped(
    op: Operation, passed: Mapping[SSAValue, SSAValue], explicit_only: bool
) -> Iterator[tuple[SSAValue, int]]:
    """Yield the references that an operation drops or passes on, minus those that it adds.

    With `explicit_only`, a value that is passed on is included only if the program itself counts it
    or counts the value to which `passed` maps it.
    """
    match op:
        case RuntimeDropRefOp():
            yield op.operand, op.count.value.data
        case RuntimeAddRefOp():
            yield op.operand, -op.count.value.data
        case ReturnOp() | PlainCallOp() if explicit_only:
            for value in op.arguments:
                if any(map(is_counted_by_hand, {value, passed.get(value, value)})):
                    yield value, 1
        # A caller hands a reference over, which a pass has added before the call.
        case ReturnOp() | PlainCallOp():
            yield from ((value, 1) for value in op.arguments if is_async(value))
