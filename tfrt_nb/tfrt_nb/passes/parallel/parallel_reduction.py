"""Split parallel loops with reductions into parallel loops over blocks with partial results.

    %s = scf.parallel (%i) = (%lo) to (%hi) step (%st) init (%x) { ... scf.reduce(%v) {...} }

becomes, for N iterations in blocks of equal size,

    %parts = memref.alloc() : memref<32xf64>
    scf.parallel (%b) = (0) to (blocks) step (1) {
      (the first iteration of the block, followed by a sequential loop that reduces) memref.store
      %part, %parts[%b]
    }
    (a sequential loop that reduces %x and the parts, in the order of the blocks)
    memref.dealloc %parts

The algorithm needs no neutral element, because no block is empty. If the reduction is not
associative, the result depends on the number of blocks, but not on the order in which they finish.

If the loop fails, its partial results are not freed, because another block may still be writing to
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Block, Region, SSAValue

from tfrt_nb.dialects.async_.extensions import RuntimeFreeBufferOp
from tfrt_nb.passes.buffers.guard_buffers import assert_allocated
from tfrt_nb.passes.control_flow import (
    Emitter,
    copied,
    defining_block,
    operations_in,
    replace,
    terminator_of,
)
from tfrt_nb.passes.parallel.index_math import IndexMath

_SCALARS = IntegerType | IndexType | BFloat16Type | Float16Type | Float32Type | Float64Type


def can_split_reduction(op: scf.ParallelOp) -> bool:
    """Return whether the loop can be split.

    Three conditions must hold. The partial results are numbers, which buffers can hold. The body
    contains no parallel loop. Each reduction uses no value of the iteration except its own
    operands, because partial results are reduced after the iterations.
    """
    body = op.body.block
    reduce = terminator_of(body)
    is_flat = not any(isinstance(nested, scf.ParallelOp) for nested in operations_in(op))
    is_apart = not any(
        defining_block(value) is body
        for nested in operations_in(reduce)
        for value in nested.operands
    )
    return is_flat and is_apart and all(isinstance(one.type, _SCALARS) for one in op.initVals)


def split_reduction(
    op: scf.ParallelOp, trips: Sequence[SSAValue], most_blocks: int, size: SSAValue, math: IndexMath
) -> scf.ParallelOp:
    """Replace the loop, and return the new loop over blocks.

    `size` is the number of iterations in a block, which is at least 1. At most `most_blocks` blocks
    exist.
    """
    zero, one = math.constant(0), math.constant(1)
    iterations = math.product(trips)
    count = math.ceil_div(iterations, size)
    parts = [
        # The number of blocks is known only at run time, but its maximum is known here.
        math.emit(memref.AllocOp([], [], MemRefType(value.type, [most_blocks]))).memref
        for value in op.initVals
    ]
    for buffer in parts:
        # The passes that guard buffers have already run, so this code contains the operations that
        # they would insert: this assertion, and the `RuntimeFreeBufferOp` below.
        assert_allocated(math.emit, buffer)
    body = Block(arg_types=[IndexType()])
    blocks = math.emit(scf.ParallelOp([zero], [count], [one], Region(body), []))
    _reduce_block(op, trips, (iterations, size), parts, math.inside(body))
    totals = _combine(op, count, parts, math)
    for buffer in parts:
        math.emit(RuntimeFreeBufferOp(buffer))
    replace(op, totals)
    return blocks


def _reduce_block(
    op: scf.ParallelOp,
    trips: Sequence[SSAValue],
    extent: tuple[SSAValue, SSAValue],
    parts: Sequence[SSAValue],
    math: IndexMath,
) -> None:
    """Emit the body of the loop over blocks."""
    iterations, size = extent
    number = math.emit.block.args[0]
    one = math.constant(1)
    first = math.mul(number, size)
    behind = math.minimum(math.add(first, size), iterations)
    # The first iteration provides the initial values, so the loop needs no neutral element.
    initial = _operands_at(op, trips, first, math)
    inner = Block(arg_types=[IndexType(), *(value.type for value in initial)])
    inside = math.inside(inner)
    operands = _operands_at(op, trips, inner.args[0], inside)
    inside.emit(scf.YieldOp(*_reduced(op, inner.args[1:], operands, inside.emit)))
    # The first iteration is done, so the loop starts at the second one.
    rest = math.emit(scf.ForOp(math.add(first, one), behind, one, initial, inner))
    for total, buffer in zip(rest.results, parts, strict=True):
        math.emit(memref.StoreOp.get(total, buffer, [number]))
    math.emit(scf.ReduceOp())


def _combine(
    op: scf.ParallelOp, count: SSAValue, parts: Sequence[SSAValue], math: IndexMath
) -> Sequence[SSAValue]:
    """Reduce the initial values and the partial results of the blocks."""
    body = Block(arg_types=[IndexType(), *(value.type for value in op.initVals)])
    emit = Emitter.at_end(body, op.location)
    found = [emit(memref.LoadOp.get(buffer, [body.args[0]])).res for buffer in parts]
    emit(scf.YieldOp(*_reduced(op, body.args[1:], found, emit)))
    zero, one = math.constant(0), math.constant(1)
    return math.emit(scf.ForOp(zero, count, one, op.initVals, body)).results


def _operands_at(
    op: scf.ParallelOp, trips: Sequence[SSAValue], iteration: SSAValue, math: IndexMath
) -> list[SSAValue]:
    """Copy the body for one iteration, and return the operands of its reductions."""
    known: dict[SSAValue, SSAValue] = {}
    arguments = op.body.block.args
    number = iteration
    for dimension in range(len(trips) - 1, -1, -1):
        coordinate = number if dimension == 0 else math.rem(number, trips[dimension])
        if dimension > 0:
            number = math.div(number, trips[dimension])
        offset = math.mul(coordinate, op.step[dimension])
        known[arguments[dimension]] = math.add(op.lowerBound[dimension], offset)
    reduce = terminator_of(op.body.block)
    assert isinstance(reduce, scf.ReduceOp)
    for nested in op.body.block.ops:
        if nested is not reduce:
            math.emit.put(copied(nested, known))
    return [known.get(value, value) for value in reduce.args]


def _reduced(
    op: scf.ParallelOp, left: Sequence[SSAValue], right: Sequence[SSAValue], emit: Emitter
) -> list[SSAValue]:
    """Copy each reduction for one pair of values, and return the results."""
    reduce = terminator_of(op.body.block)
    assert isinstance(reduce, scf.ReduceOp)
    results = []
    for region, first, second in zip(reduce.reductions, left, right, strict=True):
        known: dict[SSAValue, SSAValue] = {}
        known.update(zip(region.block.args, (first, second), strict=True))
        end = terminator_of(region.block)
        assert isinstance(end, scf.ReduceReturnOp)
        for nested in region.block.ops:
            if nested is not end:
                emit.put(copied(nested, known))
        results.append(known.get(end.result, end.result))
    return results
