"""Where references are given up: what the counting passes share.

Every async value starts with one reference that belongs to the code that follows (an argument's was
taken by the caller, a result's by whoever made it).  That reference goes

- to the caller, if the value is returned;
- to a block argument, if a branch passes the value on;
- otherwise it is dropped behind the last use, or on the edge of the control flow graph behind which
  the value is not needed any more.

A value needed more than once at such a point (returned twice; passed to a block argument and used
afterwards) gets more references first.

    cf.cond_br %c, ^use, ^end                  cf.cond_br %c, ^use, ^drop
  ^use:                                      ^use:
    async.runtime.await %t                     async.runtime.await %t
    cf.br ^end                          =>     async.runtime.drop_ref %t
  ^end:                                        cf.br ^end
    return                                   ^drop:
                                               async.runtime.drop_ref %t
                                               cf.br ^end
                                             ^end:
                                               return

Invariant: on each path from the definition the references taken and given up sum to zero.  Liveness is
taken from the control flow graph as it is for each value, because a drop on an edge changes the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects import cf
from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.traits import IsTerminator, OpTrait, ReturnLike

from tfrt_nb.dialects.async_.coroutine import CoroSuspendOp
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import RuntimeSpawnOp, RuntimeStoreOp
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.dialects.branches import branch_operands
from tfrt_nb.passes.control_flow import (
    Emitter,
    operations_in,
    split_edge,
    terminator_of,
)
from tfrt_nb.passes.convert_scf_to_cf import (
    lower_structured_control_flow,
)
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.liveness import Liveness, liveness_of

MakeCount = Callable[[SSAValue, int], Operation]

_NOT_RETURN_LIKE = "async reference counting can't handle terminators that are not ReturnLike"


@dataclass(frozen=True)
class Counts:
    """How to write a reference taken and a reference given up."""

    add: MakeCount
    drop: MakeCount


def async_values(module: ModuleOp) -> list[SSAValue]:
    """All async values: first the arguments of all blocks, then the results of all operations."""
    arguments = [value for block in _blocks(module) for value in block.args if is_async(value)]
    results = [value for op in operations_in(module) for value in op.results if is_async(value)]
    return [*arguments, *results]


def _blocks(op: Operation) -> Iterator[Block]:
    """The blocks in the operation, those of an operation's regions before the blocks behind it."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for nested in block.ops:
                yield from _blocks(nested)


def lower_carried_values(module: ModuleOp) -> None:
    """Lower loops and branches of `scf` that pass async values on: blocks say who owns them."""
    carrying = set(carrying_operations(module))
    for op in list(carrying):
        for outer in _structured_around(op):
            carrying.add(outer)
    if carrying:
        lower_structured_control_flow(module.body, lambda op: op in carrying)


def carrying_operations(module: ModuleOp) -> Iterator[Operation]:
    """The operations of `scf` with regions that async values go into as arguments or come out of."""
    for op in operations_in(module):
        if op.name.startswith("scf.") and any(map(is_async, (*op.operands, *op.results))):
            holder = op if op.regions else op.parent_op()
            assert holder is not None
            yield holder


def _structured_around(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None and parent.name.startswith("scf."):
        yield parent
        parent = parent.parent_op()


def take_references_for_calls(value: SSAValue, counts: Counts) -> None:
    """A call owns its async arguments, a value what is stored in it: take a reference for each use."""
    calls: dict[Operation, int] = {}
    for use in value.uses:
        if isinstance(use.operation, PlainCallOp | CallOp | RuntimeSpawnOp) or _stores(use):
            calls[use.operation] = calls.get(use.operation, 0) + 1
    for call, uses in calls.items():
        Emitter.in_front_of(call)(counts.add(value, uses))


def _stores(use: Use) -> bool:
    """Whether the value goes into another one, from where it will be loaded once."""
    return isinstance(use.operation, RuntimeStoreOp) and use.index == 0


def give_up_references(value: SSAValue, counts: Counts) -> None:
    """Place what the module's docstring says for one value."""
    if value.first_use is None:
        _behind_definition(value)(counts.drop(value, 1))
        return
    liveness = liveness_of(value)
    for block in liveness.blocks:
        _give_up_in(block, value, liveness, counts)


def _behind_definition(value: SSAValue) -> Emitter:
    owner = value.owner
    if isinstance(owner, Block):
        return Emitter.at_start(owner, _location_of_block(owner))
    return Emitter.behind(owner)


def _location_of_block(block: Block) -> LocationAttr:
    return UnknownLoc() if block.first_op is None else block.first_op.location


def _give_up_in(block: Block, value: SSAValue, liveness: Liveness, counts: Counts) -> None:
    last_user = liveness.last_user(block)
    is_needed_later = liveness.is_live_out(block)
    if last_user is not None and _has(last_user, IsTerminator):
        _give_up_at_terminator(last_user, value, liveness, counts)
    elif is_needed_later:
        _give_up_on_edges(terminator_of(block), value, liveness, counts)
    elif last_user is not None:
        Emitter.behind(last_user)(counts.drop(value, 1))
    elif block is liveness.defined_in:
        _behind_definition(value)(counts.drop(value, 1))


def _has(op: Operation, trait: type[OpTrait]) -> bool:
    return op.has_trait(trait, value_if_unregistered=False)


def _give_up_at_terminator(
    terminator: Operation, value: SSAValue, liveness: Liveness, counts: Counts
) -> None:
    if _has(terminator, ReturnLike):
        returned = sum(operand is value for operand in terminator.operands)
        if returned > 1:
            Emitter.in_front_of(terminator)(counts.add(value, returned - 1))
    elif isinstance(terminator, cf.BranchOp | cf.ConditionalBranchOp | cf.SwitchOp):
        _give_up_on_edges(terminator, value, liveness, counts)
    else:
        fail(terminator, _NOT_RETURN_LIKE)


def _give_up_on_edges(
    terminator: Operation, value: SSAValue, liveness: Liveness, counts: Counts
) -> None:
    """One reference is at hand in front of the branch; each edge may need another number."""
    is_suspension = isinstance(terminator, CoroSuspendOp)
    block = terminator.parent
    assert block is not None
    for edge in range(len(terminator.successors)):
        branch = terminator_of(block)  # splitting an edge makes a new one
        target = branch.successors[edge]
        passed = sum(operand is value for operand in branch_operands(branch, edge))
        needed = passed + (target in liveness.live_in)
        if needed > 1:
            _in_front_of_target(branch, edge)(counts.add(value, needed - 1))
        # What is not needed while suspended is needed when resumed: the frame holds the reference.
        elif needed == 0 and not is_suspension:
            _on_edge(branch, edge)(counts.drop(value, 1))


def _in_front_of_target(branch: Operation, edge: int) -> Emitter:
    """Where only this edge passes, and the target does not have its arguments yet.

    An argument may be the same object as the value and give up its reference at once.
    """
    if len(branch.successors) > 1 and branch.successors[edge].args:
        return Emitter.at_start(split_edge(branch, edge), branch.location)
    return _on_edge(branch, edge)


def _on_edge(branch: Operation, edge: int) -> Emitter:
    """Where only this edge passes: in front of a lone branch, at the start of the target, or between."""
    if len(branch.successors) == 1:
        return Emitter.in_front_of(branch)
    target = branch.successors[edge]
    if _count_of_edges_to(target) > 1:
        target = split_edge(branch, edge)
    return Emitter.at_start(target, branch.location)


def _count_of_edges_to(target: Block) -> int:
    return sum(1 for _ in target.uses)
