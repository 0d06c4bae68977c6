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

from tfrt_nb.passes.control_flow import Emitter
from tfrt_nb.passes.lowering.outline import Symbols
from tfrt_nb.passes.parallel.index_math import IndexMath, known_number


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


def compute_function(op: scf.ParallelOp, loop: Loop, symbols: Symbols) -> FuncOp:
    """A new function with a copy of the body of the loop."""
    inputs = [IndexType(), IndexType(), *(value.type for value in loop.arguments)]
    entry = Block(arg_types=inputs)
    type_ = FunctionType.from_lists(inputs, ())
    function = symbols.add("parallel_compute_fn", type_, Region(entry))
    function.location = op.location
    math = IndexMath(Emitter.at_end(entry, op.location))
    zero, one = math.constant(0), math.constant(1)
    inside = _inside(loop, entry, math)
    extent = _first_and_last(inside, entry.args[0], entry.args[1], one, math)
    _LoopNest(op, loop, inside, extent, (zero, one)).build(math)
    math.emit(ReturnOp())
    return function


def _inside(outside: Loop, entry: Block, math: IndexMath) -> Loop:
    """The arguments that stand for the loop's parts; constants in place of those that are known."""
    rank = len(outside.trips)
    parameters = list(entry.args[2:])

    def part(number: int, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [
            argument if known is None else math.constant(known)
            for argument, known in zip(
                parameters[number * rank : (number + 1) * rank],
                map(known_number, values),
                strict=True,
            )
        ]

    trips, lower = part(0, outside.trips), part(1, outside.lower)
    upper = parameters[2 * rank : 3 * rank]
    return Loop(trips, lower, upper, part(3, outside.steps), parameters[4 * rank :])


@dataclass(frozen=True)
class _Extent:
    """The coordinates of the first iteration of a block, of the last, and those of the last plus one."""

    first: Sequence[SSAValue]
    last: Sequence[SSAValue]
    ends: Sequence[SSAValue]


def _first_and_last(
    loop: Loop, block: SSAValue, size: SSAValue, one: SSAValue, math: IndexMath
) -> _Extent:
    iterations = math.product(loop.trips)
    first_number = math.mul(block, size)
    behind = math.minimum(math.add(first_number, size), iterations)
    last_number = math.sub(behind, one)
    first = _coordinates(first_number, loop.trips, math)
    last = _coordinates(last_number, loop.trips, math)
    return _Extent(first, last, [math.add(coordinate, one) for coordinate in last])


def _coordinates(number: SSAValue, trips: Sequence[SSAValue], math: IndexMath) -> list[SSAValue]:
    """The number of an iteration as one coordinate per dimension; the last counts fastest."""
    coordinates: list[SSAValue] = []
    for trip in reversed(trips):
        coordinates.insert(0, math.rem(number, trip))
        number = math.div(number, trip)
    return coordinates


@dataclass(frozen=True)
class _LoopNest:
    """The loops over one block, the body innermost.  The parts of the loop are known outside and inside."""

    op: scf.ParallelOp
    outside: Loop
    inside: Loop
    extent: _Extent
    zero_and_one: tuple[SSAValue, SSAValue]

    def build(self, math: IndexMath) -> None:
        start, end = self.extent.first[0], self.extent.ends[0]
        self._loop(math, start, end, [], None)

    def _loop(
        self,
        math: IndexMath,
        start: SSAValue,
        end: SSAValue,
        indices: list[SSAValue],
        edges: tuple[SSAValue, SSAValue] | None,
    ) -> None:
        """The loop of one dimension, given the induction values of those around it and whether they
        are in their first round, and in their last."""
        dimension, rank = len(indices), len(self.inside.trips)
        body = Block(arg_types=[IndexType()])
        inner = math.inside(body)
        coordinate = body.args[0]
        scaled = inner.mul(coordinate, self.inside.steps[dimension])
        indices.append(inner.add(self.inside.lower[dimension], scaled))
        is_first = inner.compare("eq", coordinate, self.extent.first[dimension])
        is_last = inner.compare("eq", coordinate, self.extent.last[dimension])
        if edges is not None:
            is_first = inner.emit(arith.AndIOp(is_first, edges[0])).result
            is_last = inner.emit(arith.AndIOp(is_last, edges[1])).result
        if dimension + 1 == rank:
            self._copy_body(indices, inner)
        else:
            bounds = self._bounds(dimension + 1, is_first, is_last, inner)
            self._loop(inner, *bounds, indices, (is_first, is_last))
        inner.emit(scf.YieldOp())
        math.emit(scf.ForOp(start, end, self.zero_and_one[1], (), body))

    def _bounds(
        self, dimension: int, is_first: SSAValue, is_last: SSAValue, math: IndexMath
    ) -> tuple[SSAValue, SSAValue]:
        zero, trip = self.zero_and_one[0], self.inside.trips[dimension]
        start = math.select(is_first, self.extent.first[dimension], zero)
        return start, math.select(is_last, self.extent.ends[dimension], trip)

    def _copy_body(self, indices: Sequence[SSAValue], math: IndexMath) -> None:
        values: dict[SSAValue, SSAValue] = dict(zip(self.op.body.block.args, indices, strict=True))
        values.update(zip(self.outside.captured, self.inside.captured, strict=True))
        for original in self.op.body.block.ops:
            if isinstance(original, scf.ReduceOp):
                continue
            copied = original.clone(values)
            math.emit.block.add_op(copied)
            for source, copy in zip(original.walk(), copied.walk(), strict=True):
                copy.location = source.location
