"""Lower structured loops and branches to blocks.

    scf.if %c {                  cf.cond_br %c, ^then, ^rest
      "work"()           =>    ^then:
    }                            "work"()
    "rest"()                     cf.br ^rest
                               ^rest:
                                 "rest"()

The pass lowers the whole dialect. An `scf.parallel` becomes a sequential nest of loops with its
reductions. A coroutine needs this pass before code inside a loop can suspend: a suspension is a
branch, but the regions of `scf` have a single block. MLIR's pass is described at
https://mlir.llvm.org/docs/Passes/#-convert-scf-to-cf.

MLIR leaves a loop undefined whose last step passes the largest number of its type
(https://github.com/llvm/llvm-project/pull/203713). Here, as in MLIR's pass, the index then wraps to
a negative number, and the loop continues. How a split `scf.parallel` continues is arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, ModuleOp, VectorType, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.passes.control_flow import (
    UNROLL,
    Emitter,
    erase,
    exchange,
    move_to_end,
    operations_in,
    region_of,
    replace,
    split_behind,
    terminator_of,
)


@dataclass(frozen=True)
class ConvertScfToCf(ModulePass):
    """Lowers every `scf` operation.

    All 64 bits of the index of an `scf.index_switch` select the case, whereas MLIR uses only the
    lowest 32.
    """

    name: ClassVar[str] = "convert-scf-to-cf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_structured_control_flow(op.body)


def lower_structured_control_flow(
    region: Region, wanted: Callable[[Operation], bool] = lambda op: True
) -> None:
    """Lower the `scf` operations in the region for which `wanted` is true, the outermost first.

    If `wanted` is true for an operation, it must be true for the enclosing operations, too.
    """
    for op in operations_in(region):
        lower = _LOWERINGS.get(op.name)
        if lower is not None and wanted(op):
            lower(op)


def _lower_if(op: scf.IfOp) -> None:
    head, rest = split_behind(op, op.result_types)
    if op.results:
        rest = _joined(rest, op)
    then_block = _inline_yielding_region(op.true_region, rest)
    else_block = _inline_yielding_region(op.false_region, rest) if op.false_region.blocks else rest
    _finish(op, head, cf.ConditionalBranchOp(op.cond, then_block, (), else_block, ()), rest.args)


def _joined(rest: Block, op: Operation) -> Block:
    """Insert a block before `rest` that takes over its arguments, as MLIR does for `scf.if`."""
    join = Block(arg_types=op.result_types)
    region_of(rest).insert_block_before(join, rest)
    for argument, taken in zip(list(rest.args), join.args, strict=True):
        argument.replace_all_uses_with(taken)
        rest.erase_arg(argument)
    Emitter.at_end(join, op.location)(cf.BranchOp(rest))
    return join


def _lower_execute_region(op: scf.ExecuteRegionOp) -> None:
    head, rest = split_behind(op, op.result_types)
    _finish(op, head, cf.BranchOp(_inline_yielding_region(op.region, rest)), rest.args)


def _lower_index_switch(op: scf.IndexSwitchOp) -> None:
    head, rest = split_behind(op, op.result_types)
    cases = [_inline_yielding_region(region, rest) for region in op.case_regions]
    default = _inline_yielding_region(op.default_region, rest)
    emit = Emitter.at_end(head, op.location)
    flag = emit(arith.IndexCastOp(op.arg, i64))
    values = DenseIntElementsAttr.from_list(VectorType(i64, [len(cases)]), op.cases.get_values())
    _finish(op, head, cf.SwitchOp(flag, default, (), values, cases, [() for _ in cases]), rest.args)


def _inline_yielding_region(region: Region, rest: Block) -> Block:
    """Move the region's blocks before `rest`, and return the first one.

    Each yield becomes a branch to `rest` that passes the yielded values.
    """
    entry = region.blocks[0]
    for block in region.blocks:
        terminator = terminator_of(block)
        if isinstance(terminator, scf.YieldOp):
            exchange(terminator, cf.BranchOp(rest, *terminator.operands))
    region.move_blocks_before(rest)
    return entry


def _finish(op: Operation, head: Block, branch: Operation, results: Sequence[SSAValue]) -> None:
    Emitter.at_end(head, op.location)(branch)
    replace(op, results)


def _lower_for(op: scf.ForOp) -> None:
    """Lower a loop to `condition(%i, args): %i < %ub ? body : rest`.

    The body branches back to the condition with `%i + step`.
    """
    head, rest = split_behind(op)
    # The body's entry block becomes the condition, because its arguments are the index and the
    # carried values.
    condition = op.body.block
    assert condition.first_op is not None
    body = condition.split_before(condition.first_op)
    yielded = terminator_of(body)
    emit = Emitter.in_front_of(yielded)
    stepped = emit(arith.AddiOp(condition.args[0], op.step))
    back = emit(cf.BranchOp(condition, stepped, *yielded.operands))
    if UNROLL in op.attributes:
        back.attributes[UNROLL] = op.attributes[UNROLL]
    erase(yielded)
    test = Emitter.at_end(condition, op.location)
    more = test(arith.CmpiOp(condition.args[0], op.ub, "slt"))
    test(cf.ConditionalBranchOp(more, body, (), rest, ()))
    op.body.move_blocks_before(rest)
    _finish(op, head, cf.BranchOp(condition, op.lb, *op.iter_args), condition.args[1:])


def _lower_while(op: scf.WhileOp) -> None:
    """Lower an `scf.while`.

    The block of the condition dominates the code after the loop, so values of that block replace
    the loop's results.
    """
    head, rest = split_behind(op)
    before, after = op.before_region.block, op.after_region.block
    condition = terminator_of(before)
    assert isinstance(condition, scf.ConditionOp)
    passed = list(condition.args)
    exchange(condition, cf.ConditionalBranchOp(condition.condition, after, passed, rest, ()))
    yielded = terminator_of(after)
    exchange(yielded, cf.BranchOp(before, *yielded.operands))
    op.before_region.move_blocks_before(rest)
    op.after_region.move_blocks_before(rest)
    _finish(op, head, cf.BranchOp(before, *op.arguments), passed)


def _lower_parallel(op: scf.ParallelOp) -> None:
    for loop in sequential_loops(op):
        _lower_for(loop)


def sequential_loops(op: scf.ParallelOp) -> list[scf.ForOp]:
    """Replace a parallel loop with a nest of `scf.for`, and return the nest, outermost loop first.

    Each reduction becomes a value that the nest carries: `accumulated = reduce(accumulated,
    operand)`.
    """
    loops: list[scf.ForOp] = []
    emit = Emitter.in_front_of(op)
    carried: Sequence[SSAValue] = op.initVals
    indices: list[BlockArgument] = []
    for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
        body = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        loop = emit(scf.ForOp(lower, upper, step, carried, body))
        if loops:
            emit(scf.YieldOp(*loop.results))
        loops.append(loop)
        indices.append(body.args[0])
        carried = body.args[1:]
        emit = Emitter.at_end(body, op.location)
    _move_body(op, indices, carried, emit)
    replace(op, loops[0].results)
    return loops


def _move_body(
    op: scf.ParallelOp, indices: Sequence[SSAValue], carried: Sequence[SSAValue], emit: Emitter
) -> None:
    body = op.body.block
    for argument, index in zip(body.args, indices, strict=True):
        argument.replace_all_uses_with(index)
    reduce = terminator_of(body)
    assert isinstance(reduce, scf.ReduceOp)
    for nested in list(body.ops):
        if nested is not reduce:
            move_to_end(nested, emit.block)
    reduced = [
        _inline_reduction(region, accumulated, operand, emit.block)
        for region, accumulated, operand in zip(
            reduce.reductions, carried, reduce.args, strict=True
        )
    ]
    emit(scf.YieldOp(*reduced))


def _inline_reduction(
    region: Region, accumulated: SSAValue, operand: SSAValue, block: Block
) -> SSAValue:
    source = region.block
    source.args[0].replace_all_uses_with(accumulated)
    source.args[1].replace_all_uses_with(operand)
    result = terminator_of(source)
    assert isinstance(result, scf.ReduceReturnOp)
    for nested in list(source.ops):
        if nested is not result:
            move_to_end(nested, block)
    return result.result


_LOWERINGS: dict[str, Callable[[Any], None]] = {
    "scf.if": _lower_if,
    "scf.for": _lower_for,
    "scf.while": _lower_while,
    "scf.parallel": _lower_parallel,
    "scf.execute_region": _lower_execute_region,
    "scf.index_switch": _lower_index_switch,
}
