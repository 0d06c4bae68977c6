"""Helpers that several passes share: errors and remarks, operations, blocks, and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    SymbolRefAttr,
    i1,
    i32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.dialects.fast_ir import OpT, append, create, initialize, insert_before
from tfrt_nb.internal_errors import location_of
from tfrt_runtime.diagnostics import Diagnostic, Severity, TfrtError, error, note


class PassError(TfrtError):
    """The error that a pass raises for a valid program that it cannot transform."""


def fail(op: Operation, message: str, *advice: str) -> NoReturn:
    """Raise `PassError` at the source location of `op`, with notes on what to write instead."""
    place = location_of(op)
    raise PassError(error(message, place, [note(text, place) for text in advice]))


class RemarkContext(Context):
    """A context that collects the remarks of passes in the order of their emission."""

    def __init__(self) -> None:
        super().__init__()
        self.remarks: list[Diagnostic] = []


def remark(context: Context, op: Operation, message: str) -> None:
    """Emit a remark about `op` if the context collects remarks."""
    if isinstance(context, RemarkContext):
        context.remarks.append(Diagnostic(Severity.REMARK, message, location_of(op)))


T = TypeVar("T")
_INDEX = IndexType()


@dataclass
class Emitter:
    """Inserts operations, one after another, at a fixed place in a block.

    The place is before the operation `before`, or at the end of `block` if `before` is None. Each
    inserted operation gets `location`, so that an error can be traced to a source line.
    """

    block: Block
    before: Operation | None
    location: LocationAttr

    @classmethod
    def in_front_of(cls, op: Operation) -> Emitter:
        """Return an emitter that inserts before `op`, with the location of `op`."""
        return cls(block_of(op), op, op.location)

    @classmethod
    def behind(cls, op: Operation) -> Emitter:
        """Return an emitter that inserts right after `op`, with the location of `op`."""
        return cls(block_of(op), op.next_op, op.location)

    @classmethod
    def at_start(cls, block: Block, location: LocationAttr) -> Emitter:
        """Return an emitter at the start of the block."""
        return cls(block, block.first_op, location)

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr) -> Emitter:
        """Return an emitter at the end of the block."""
        return cls(block, None, location)

    def integer(self, number: int, type_: Attribute = _INDEX) -> SSAValue:
        """Emit an integer constant."""
        assert isinstance(type_, IntegerType | IndexType)
        return self(arith.ConstantOp(IntegerAttr(number, type_))).result

    def expect(self, left: SSAValue, predicate: str, right: SSAValue, message: str) -> None:
        """Emit an assertion that `left` and `right` satisfy the predicate."""
        self(cf.AssertOp(self(arith.CmpiOp(left, right, predicate)).result, message))

    def __call__(self, op: OpT) -> OpT:
        op.location = self.location
        return self.put(op)

    def put(self, op: OpT) -> OpT:
        """Insert an operation that keeps its own location."""
        assert op.parent is None
        if self.before is None:
            append(self.block, op)
        else:
            insert_before(op, self.before)
        return op


# Passes create huge numbers of branches, returns, and constants. IRDL's constructors would take
# three times as long, because they check whether each operand is a list.
_NO_ARGUMENTS = {"operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0])}
UNROLL = "tfrt.unroll"
"""The attribute of a loop, or of its back edge, that LLVM should unroll."""
_TRUTH = {value: IntegerAttr(int(value), i1) for value in (False, True)}


def jump(target: Block) -> cf.BranchOp:
    """Build a branch to a block without arguments."""
    branch = cf.BranchOp.__new__(cf.BranchOp)
    initialize(branch, successors=(target,))
    return branch


def choose(condition: SSAValue, then: Block, otherwise: Block) -> cf.ConditionalBranchOp:
    """Build a conditional branch to one of two blocks without arguments."""
    branch = cf.ConditionalBranchOp.__new__(cf.ConditionalBranchOp)
    initialize(
        branch,
        operands=(condition,),
        successors=(then, otherwise),
        # Copy the dictionary, because passes may change the properties of one operation.
        properties=dict(_NO_ARGUMENTS),
    )
    return branch


def leave(*values: SSAValue) -> ReturnOp:
    """Build the return from a plain function."""
    return create(ReturnOp, values, (), {}, UNKNOWN_LOC, {})


def call(function: FuncOp, arguments: Sequence[SSAValue]) -> CallOp:
    """Build a call to `function`, a plain function in the module."""
    return CallOp.create(
        operands=arguments,
        result_types=function.function_type.outputs.data,
        properties={"callee": SymbolRefAttr(function.sym_name.data)},
    )


def truth(value: bool) -> arith.ConstantOp:
    """Build a one-bit constant."""
    return create(arith.ConstantOp, (), (i1,), {}, UNKNOWN_LOC, {"value": _TRUTH[value]})


def integer_of(value: SSAValue) -> int | None:
    """Return the signed value of an integer constant, or None if `value` is not such a constant."""
    owner = value.owner
    attribute = owner.properties.get("value") if type(owner) is arith.ConstantOp else None
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def operations_in(holder: Operation | Region) -> list[Operation]:
    """Return all operations inside `holder`, at any depth.

    An operation comes before the operations in its regions. The order is the same as that of xDSL's
    `walk`, which takes three times as long. The result is a list, so the caller may change the
    operations while it iterates.
    """
    found: list[Operation] = []
    _collect(holder, found)
    return found


def _collect(holder: Operation | Region, found: list[Operation]) -> None:
    for region in (holder,) if isinstance(holder, Region) else holder.regions:
        for block in region.blocks:
            op = block.first_op
            while op is not None:
                found.append(op)
                if op.regions:
                    _collect(op, found)
                op = op.next_op


def terminator_of(block: Block) -> Operation:
    """Return the last operation of a block that has a terminator."""
    assert block.last_op is not None
    return block.last_op


def block_of(op: Operation) -> Block:
    """Return the block that contains the operation."""
    assert op.parent is not None
    return op.parent


def region_of(block: Block) -> Region:
    """Return the region that contains the block."""
    assert block.parent is not None
    return block.parent


def defining_block(value: SSAValue) -> Block:
    """Return the block that has `value` as an argument or contains its defining operation."""
    owner = value.owner
    return owner if isinstance(owner, Block) else block_of(owner)


def split_behind(op: Operation, arg_types: Sequence[Attribute] = ()) -> tuple[Block, Block]:
    """Split the block after `op`.

    Returns:
        the block of `op`, now without a terminator, and a new block with the rest.
    """
    head, following = block_of(op), op.next_op
    assert following is not None
    return head, head.split_before(following, arg_types=arg_types)


def split_edge(terminator: Operation, edge: int) -> Block:
    """Insert a block on one edge of a branch, and return the new block.

    The new block is right before the edge's old target. It contains only a branch to that target.
    """
    successor = terminator.successors[edge]
    block = Block()
    region_of(successor).insert_block_before(block, successor)
    branch = cf.BranchOp(successor, *branch_operands(terminator, edge))
    Emitter.at_end(block, terminator.location)(branch)
    _redirect(terminator, edge, block)
    return block


def _redirect(terminator: Operation, edge: int, block: Block) -> None:
    """Redirect one edge of a branch to a block without arguments."""
    targets = list(terminator.successors)
    passed = [list(branch_operands(terminator, each)) for each in range(len(targets))]
    targets[edge], passed[edge] = block, []
    # The edge may have had arguments, so the operand segments change and a new operation is needed.
    match terminator:
        case cf.BranchOp():
            changed: Operation = jump(block)
        case cf.ConditionalBranchOp():
            changed = cf.ConditionalBranchOp(
                terminator.cond, targets[0], passed[0], targets[1], passed[1]
            )
        case cf.SwitchOp():
            changed = cf.SwitchOp(
                terminator.flag,
                targets[0],
                passed[0],
                terminator.case_values,
                targets[1:],
                passed[1:],
            )
        case _:
            terminator.successors[edge] = block
            return
    Emitter.in_front_of(terminator)(changed)
    changed.attributes |= terminator.attributes
    erase(terminator)


def copied(
    op: Operation, values: dict[SSAValue, SSAValue], blocks: dict[Block, Block] | None = None
) -> Operation:
    """Clone an operation, with its locations, and replace its operands according to `values`.

    The function adds the operation's results and all nested values and blocks to the mappings.
    """
    copy = op.clone(values, blocks)
    copy.location = op.location
    if op.regions:
        for nested, inner in zip(op.walk(), copy.walk(), strict=True):
            inner.location = nested.location
    return copy


def erase(op: Operation) -> None:
    """Erase an operation whose results are unused."""
    block_of(op).erase_op(op)


def move_to_end(op: Operation, block: Block) -> None:
    """Move an operation to the end of a block."""
    block.add_op(block_of(op).detach_op(op))


def replace(op: Operation, values: Sequence[SSAValue]) -> None:
    """Erase `op`, and replace each use of its results with the corresponding value of `values`."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)


def exchange(op: Operation, new: OpT) -> OpT:
    """Replace `op` with `new`, which has the same number of results, and return `new`."""
    replace(op, Emitter.in_front_of(op)(new).results)
    return new


def returning_edges(region: Region) -> list[tuple[Block, Block]]:
    """Return the back edges that a depth-first search finds, as pairs of source and target."""
    entry = region.blocks[0]
    # The path is explicit because recursion would overflow the stack for long chains of blocks.
    path = {entry: iter(terminator_of(entry).successors)}
    finished: set[Block] = set()
    found = []
    while path:
        last = next(reversed(path))
        target = next(path[last], None)
        if target is None:
            finished.add(path.popitem()[0])
        elif target in path:
            found.append((last, target))
        elif target not in finished:
            path[target] = iter(terminator_of(target).successors)
    return found


def blocks_behind(block: Block) -> set[Block]:
    """Return the blocks that can be reached from the end of `block`."""
    return reachable(terminator_of(block).successors, lambda one: terminator_of(one).successors)


def reachable(starts: Iterable[T], following: Callable[[T], Iterable[T]]) -> set[T]:
    """Return `starts` and all items reachable from it; `following` returns direct successors."""
    found = set(starts)
    pending = list(found)
    while pending:
        more = set(following(pending.pop())) - found
        found |= more
        pending += more
    return found


def ancestors(holder: Operation | Block) -> Iterator[Operation]:
    """Yield the operations that enclose `holder`, innermost first."""
    while (parent := holder.parent_op()) is not None:
        yield parent
        holder = parent
