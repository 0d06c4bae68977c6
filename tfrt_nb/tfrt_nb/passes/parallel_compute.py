"""The function that computes one block of a parallel loop.

    parallel_compute_fn(block, size, trip counts, lower bounds, upper bounds, steps, captured values)

computes the iterations block*size ... min(block*size + size, N) - 1.  Their first and last numbers are
taken apart into coordinates, and a nest of loops runs from the first to the last: an inner loop starts
at the first coordinate only while all outer ones are in their first round, and ends at the last only
while all outer ones are in their last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FunctionType, IndexType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tfrt_nb.passes.control_flow import Emitter, erase, move_to_end
from tfrt_nb.passes.index_math import IndexMath, constant_value
from tfrt_nb.passes.outline import Symbols, replace_uses_inside


@dataclass(frozen=True)
class Loop:
    """What a parallel loop is made of, one entry per dimension, and what its body captures."""

    trips: Sequence[SSAValue]
    lower: Sequence[SSAValue]
    upper: Sequence[SSAValue]
    steps: Sequence[SSAValue]
    captured: Sequence[SSAValue]

    @property
    def arguments(self) -> list[SSAValue]:
        """In the order of the function's arguments."""
        return [*self.trips, *self.lower, *self.upper, *self.steps, *self.captured]


def compute_function(
    op: scf.ParallelOp, trips: Sequence[SSAValue], captured: Sequence[SSAValue], symbols: Symbols
) -> FuncOp:
    """Move the body of the loop to a new function."""
    outside = Loop(trips, op.lowerBound, op.upperBound, op.step, captured)
    inputs = [IndexType(), IndexType(), *(value.type for value in outside.arguments)]
    entry = Block(arg_types=inputs)
    type_ = FunctionType.from_lists(inputs, ())
    function = symbols.add("parallel_compute_fn", type_, Region(entry))
    function.location = op.location
    parameters = entry.args[len(inputs) - len(captured) :]
    replace_uses_inside(op.body, dict(zip(captured, parameters, strict=True)))
    math = IndexMath(_take_sunk_constants(op, entry), entry, None)
    rank = len(trips)
    if rank > 1 or any(constant_value(value) == 0 for value in op.lowerBound):
        math.constant(0)
    math.constant(1)
    inside = _inside(outside, entry, math)
    emit = _loop_nest(op, inside, entry.args[0], entry.args[1], math)
    _move_body(op, emit)
    _erase_unused_constants(entry)
    math.emit(ReturnOp())
    return function


def _take_sunk_constants(op: scf.ParallelOp, entry: Block) -> Emitter:
    """Constants at the start of the body are the same in all iterations."""
    emit = Emitter.at_end(entry, op.location)
    for constant in list(op.body.block.ops):
        if not isinstance(constant, arith.ConstantOp):
            break
        move_to_end(constant, entry)
    return emit


def _inside(outside: Loop, entry: Block, math: IndexMath) -> Loop:
    """The arguments that stand for the loop's parts; constants in place of those that are known."""
    known = [constant_value(value) for value in outside.arguments]
    values = [
        argument if number is None or argument.type != IndexType() else math.constant(number)
        for argument, number in zip(entry.args[2:], known, strict=True)
    ]
    rank = len(outside.trips)
    parts = [values[start : start + rank] for start in range(0, 4 * rank, rank)]
    return Loop(parts[0], parts[1], parts[2], parts[3], values[4 * rank :])


def _loop_nest(
    op: scf.ParallelOp, loop: Loop, block: SSAValue, size: SSAValue, math: IndexMath
) -> Emitter:
    """The loops; where the body goes.  The induction variables of the body are replaced."""
    zero, one = math.constant(0), math.constant(1)
    first, last = _first_and_last(loop, block, size, math)
    ends = [math.add(coordinate, one) for coordinate in last]
    start, end = first[0], ends[0]
    is_first: SSAValue | None = None
    is_last: SSAValue | None = None
    for dimension, argument in enumerate(op.body.block.args):
        body = Block(arg_types=[IndexType()])
        math.emit(scf.ForOp(start, end, one, (), body))
        if dimension > 0:
            math.emit(scf.YieldOp())
        math = math.at(Emitter.at_end(body, op.location))
        coordinate = body.args[0]
        scaled = math.mul(coordinate, loop.steps[dimension])
        argument.replace_all_uses_with(math.add(loop.lower[dimension], scaled))
        if dimension + 1 == len(loop.trips):
            break
        starts = math.compare("eq", coordinate, first[dimension])
        ends_here = math.compare("eq", coordinate, last[dimension])
        is_first, is_last = _and(math, starts, is_first), _and(math, ends_here, is_last)
        start = math.select(is_first, first[dimension + 1], zero)
        end = math.select(is_last, ends[dimension + 1], loop.trips[dimension + 1])
    return math.emit


def _first_and_last(
    loop: Loop, block: SSAValue, size: SSAValue, math: IndexMath
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The coordinates of the first and of the last iteration of a block."""
    iterations = loop.trips[0]
    for trip in loop.trips[1:]:
        iterations = math.mul(iterations, trip)
    first = math.mul(block, size)
    behind = math.minimum(math.add(first, size), iterations)
    last = math.sub(behind, math.constant(1))
    return _coordinates(first, loop.trips, math), _coordinates(last, loop.trips, math)


def _coordinates(number: SSAValue, trips: Sequence[SSAValue], math: IndexMath) -> list[SSAValue]:
    """The number of an iteration as one coordinate per dimension; the last counts fastest."""
    coordinates: list[SSAValue] = []
    for dimension in range(len(trips) - 1, -1, -1):
        coordinates.insert(0, math.rem(number, trips[dimension]))
        if dimension > 0:
            number = math.div(number, trips[dimension])
    return coordinates


def _and(math: IndexMath, more: SSAValue, so_far: SSAValue | None) -> SSAValue:
    return more if so_far is None else math.emit(arith.AndIOp(more, so_far)).result


def _move_body(op: scf.ParallelOp, emit: Emitter) -> None:
    for nested in list(op.body.block.ops):
        if not isinstance(nested, scf.ReduceOp):
            move_to_end(nested, emit.block)
    emit(scf.YieldOp())


def _erase_unused_constants(entry: Block) -> None:
    for op in list(entry.ops):
        if isinstance(op, arith.ConstantOp) and op.result.first_use is None:
            erase(op)
