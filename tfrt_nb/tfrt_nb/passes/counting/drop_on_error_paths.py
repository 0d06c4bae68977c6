"""Drop, on paths to an error, the references that the normal path drops later.

    ^b:                                        ^b:
      cf.cond_br %failed, ^error, ^go            cf.cond_br %failed, ^error, ^go
    ^error:                                    ^error:
      async.runtime.inherit_error ...            async.runtime.inherit_error ...
      cf.br ^set_error                   =>      async.runtime.drop_ref %t
    ^go:                                         cf.br ^set_error
      async.runtime.await %t                   ^go:
      async.runtime.drop_ref %t                  ...

Counting on the high-level operations (`async-ref-counting`) does not see these paths, because they
appear only when tasks become coroutines and assertions become branches. Neither does a program that
counts by hand. Counts are balanced on every normal path, so following a single one shows which
drops are due. The pass follows it until it joins the path of the error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeIsInterruptedOp
from tfrt_nb.dialects.async_.runtime import ON_TOP, CoroSuspendOp, RuntimeAddRefOp, RuntimeDropRefOp
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.passes.control_flow import (
    Emitter,
    blocks_behind,
    operations_in,
    split_edge,
    terminator_of,
)
from tfrt_nb.passes.counting.async_runtime_ref_counting import is_counted_by_hand
from tfrt_nb.passes.counting.reference_counts import ERROR_STARTS
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE


@dataclass(frozen=True)
class DropOnErrorPaths(ModulePass):
    """Completes the counts of `async-ref-counting` after the lowering to coroutines.

    With `explicit_only`, the pass completes only the references that the program itself takes and
    drops; other values are counted later.
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
            for branch, edge, normal in list(_error_edges(function, errors)):
                path = _path(normal, branch.successors[edge], errors)
                if due := _due(branch, path, self.explicit_only):
                    # A block split off for the drops is an error block for later branches, too.
                    errors.add(_drop(branch, edge, due, on_top=self.explicit_only))


def _error_blocks(function: FuncOp, fallible: AbstractSet[str]) -> Iterator[Block]:
    """Return the blocks at which paths to an error start."""
    for block in function.body.blocks:
        if type(block.first_op) in ERROR_STARTS:
            yield block
        elif _asks_for_failure(terminator_of(block), fallible):
            yield terminator_of(block).successors[0]


def _error_edges(
    function: FuncOp, error_blocks: AbstractSet[Block]
) -> Iterator[tuple[Operation, int, Block]]:
    """Yield each branch with an edge to an error, that edge, and the block where it continues
    normally.
    """
    for block in function.body.blocks:
        branch = terminator_of(block)
        if isinstance(branch, CoroSuspendOp) or len(branch.successors) < 2:
            continue
        errors = [edge for edge, target in enumerate(branch.successors) if target in error_blocks]
        normal = [target for target in branch.successors if target not in error_blocks]
        if len(errors) == 1 and normal:
            yield branch, errors[0], normal[0]


def _asks_for_failure(branch: Operation, fallible: AbstractSet[str]) -> bool:
    """Return whether the branch goes to its first target if a call failed or the run is
    cancelled.
    """
    if not isinstance(branch, cf.ConditionalBranchOp):
        return False
    asked = branch.cond.owner
    return isinstance(asked, RuntimeIsInterruptedOp) or (
        isinstance(asked, CallOp)
        and asked.callee.root_reference.data in fallible
        and branch.cond is asked.results[0]
    )


def _path(start: Block, error: Block, errors: AbstractSet[Block]) -> list[Block]:
    """Return a shortest normal path to a return, or to where it joins the path of the error."""
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
    return []


def _normal_successors(block: Block, errors: AbstractSet[Block]) -> list[Block]:
    branch = terminator_of(block)
    if isinstance(branch, CoroSuspendOp):
        return [branch.resume]
    return [target for target in branch.successors if target not in errors]


def _drop(branch: Operation, edge: int, due: dict[SSAValue, int], *, on_top: bool) -> Block:
    """Drop the due references in a block that only this edge reaches, and return that block."""
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
    """Return the references dropped on the path from `branch`, minus those added, for values
    defined before it.

    A block argument on the path counts as the value that the branch passes for it.
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
                # A program that counts only the argument leaves the value to the pass that counts
                # the rest.
                is_left = explicit_only and source is not value and not is_counted_by_hand(source)
                if source not in made and not is_left:
                    due[source] = due.get(source, 0) + count
        branch = terminator_of(block)
    return {value: count for value, count in due.items() if count > 0}


def _dropped(
    op: Operation, passed: Mapping[SSAValue, SSAValue], explicit_only: bool
) -> Iterator[tuple[SSAValue, int]]:
    """Yield the references that an operation drops or passes on, minus those that it adds.

    With `explicit_only`, a value that is passed on counts only if it, or the value passed for it,
    is counted by hand.
    """
    match op:
        case RuntimeDropRefOp():
            yield op.operand, op.count.value.data
        case RuntimeAddRefOp():
            yield op.operand, -op.count.value.data
        case ReturnOp() | CallOp() if explicit_only:
            for value in op.arguments:
                if any(map(is_counted_by_hand, {value, passed.get(value, value)})):
                    yield value, 1
        case ReturnOp():
            yield from ((value, 1) for value in op.arguments if is_async(value))
