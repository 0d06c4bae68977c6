"""Lower parallel loops to blocks of iterations that run as tasks.

    scf.parallel (%i) = (%lo) to (%hi) step (%st) { body }

The pass numbers the iterations of all dimensions from 0 to N-1, with the innermost dimension
varying fastest. It divides them into blocks of equal size, with enough blocks to keep the workers
busy. One function computes one block:

    parallel_compute_fn(block, block size, trip counts, lower bounds, upper bounds, steps,
                        captured values)

The function computes the iterations block*size ... min(block*size + size, N) - 1. It converts the
numbers of the first and the last iteration to coordinates, and runs a loop nest from the first to
the last. An inner loop starts at the first coordinate only while all outer loops are in their first
iteration. It stops at the last coordinate only while all outer loops are in their last iteration.

A dispatch function starts the blocks. It repeatedly passes half of its blocks to a new task until
only one block is left, which it computes. With `async-dispatch=false`, a loop starts the blocks
instead. The caller then waits for all blocks.

Invariants: Each iteration belongs to exactly one block, and no block that is started is empty. A
loop with reductions either stays unchanged, or first becomes a loop over blocks
(`parallel_reduction`).

The pass follows MLIR's `-async-parallel-for`
(https://mlir.llvm.org/docs/Passes/#-async-parallel-for).

Rejected as the default: a loop that starts all blocks, because the last block starts only after all
other tasks have been created. Halving creates the tasks in parallel, in a number of rounds that
grows with the logarithm of the block count. (Blumofe and Leiserson 1999, J. ACM 46(5), "Scheduling
Multithreaded Computations by Work Stealing", has the bounds for such programs.)

Also rejected: a shared counter from which workers take blocks, which needs a task for each worker
even if all workers are busy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, FunctionType, IndexType, ModuleOp, UnitAttr, f32, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.proposal import ParallelForOp
from tfrt_nb.dialects.async_.runtime import RuntimeNumWorkerThreadsOp
from tfrt_nb.dialects.async_.tasks import (
    AddToGroupOp,
    AwaitAllOp,
    CreateGroupOp,
    ExecuteOp,
    YieldOp,
)
from tfrt_nb.dialects.async_.types import GROUP
from tfrt_nb.passes.control_flow import Emitter, copied, erase, integer_of, operations_in, remark
from tfrt_nb.passes.lowering.coroutines import JOINS, UNINTERRUPTED
from tfrt_nb.passes.lowering.outline import Symbols, captured_values, sink_constants
from tfrt_nb.passes.parallel.index_math import IndexMath, simplify
from tfrt_nb.passes.parallel.parallel_reduction import can_split_reduction, split_reduction

_BLOCKS_PER_WORKER = ((4, 8.0), (8, 4.0), (16, 2.0), (32, 1.0), (64, 0.8))
"""Pairs of a maximum worker count and the number of blocks per worker up to that count.

With few workers, blocks must be smaller to balance the load. The numbers are MLIR's.
"""
_BLOCKS_PER_WORKER_OF_MANY = 0.6
_HAS_REDUCTION = "the loop stays as it is because it has a reduction: 'async-parallel-for{reductions=true}' splits it"  # noqa: E501
_CANNOT_SPLIT = "the loop stays as it is: only a reduction of numbers that uses nothing but its two arguments is split"  # noqa: E501
_MAX_PARTS = 256
"""The maximum number of blocks in a loop with reductions if the worker count is unknown."""


@dataclass(frozen=True)
class AsyncParallelFor(ModulePass):
    """Lowers `scf.parallel`.

    If `num_workers` is -1, the program asks the runtime for the worker count. A block has at least
    `min_task_size` iterations. With `fold`, the pass also folds the whole module, as MLIR does.
    With `only_async`, the pass lowers an `scf.parallel` only if the program writes it as
    `async.parallel_for`.

    Two options depart from MLIR. With `clamp_trip_counts`, a dimension whose bounds are reversed
    has no iterations; in MLIR, a loop counts as non-empty if two of its dimensions have reversed
    bounds. With `reductions`, loops with reductions also run in parallel.
    """

    name: ClassVar[str] = "async-parallel-for"

    async_dispatch: bool = True
    num_workers: int = 8
    min_task_size: int = 1000
    clamp_trip_counts: bool = False
    join_on_failure: bool = False
    reductions: bool = False
    fold: bool = True
    only_async: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = Symbols(op)
        # MLIR numbers the functions in this order: the last loop first, and outer loops before
        # inner ones.
        while loops := self._outermost(op):
            for loop in reversed(loops):
                if loop.initVals:
                    # An iteration of the new loop is already a block of at least `min_task_size`
                    # iterations.
                    replace(self, min_task_size=1)._lower(self._over_blocks(loop), symbols)
                else:
                    self._lower(loop, symbols)
        for left in operations_in(op):
            if isinstance(left, scf.ParallelOp) and left.initVals:
                remark(ctx, left, _CANNOT_SPLIT if self.reductions else _HAS_REDUCTION)
        if self.fold:
            simplify(op)

    def _outermost(self, module: ModuleOp) -> list[scf.ParallelOp]:
        """Return the loops to rewrite that are not inside another loop to rewrite."""
        found: list[scf.ParallelOp] = []
        inside: set[Operation] = set()
        for op in operations_in(module):
            if isinstance(op, scf.ParallelOp) and op not in inside and self._can_rewrite(op):
                found.append(op)
                inside.update(operations_in(op))
        return found

    def _can_rewrite(self, op: scf.ParallelOp) -> bool:
        if self.only_async and ParallelForOp.name not in op.attributes:
            return False
        return not op.initVals or (self.reductions and can_split_reduction(op))

    def _over_blocks(self, op: scf.ParallelOp) -> scf.ParallelOp:
        """Rewrite the loop as a loop over blocks; each block reduces its own iterations."""
        math = IndexMath(Emitter.in_front_of(op))
        most = _MAX_PARTS if self.num_workers < 0 else self._most_blocks()
        trips = self._trip_counts(op, math)
        iterations = math.product(trips)
        wanted = math.minimum(self._wanted_blocks(math), math.constant(most))
        even = math.ceil_div(iterations, wanted)
        size = math.maximum(even, math.constant(max(1, self.min_task_size)))
        return split_reduction(op, trips, most, size, math)

    def _lower(self, op: scf.ParallelOp, symbols: Symbols) -> None:
        math = IndexMath(Emitter.in_front_of(op))
        min_task_size = math.constant(self.min_task_size)
        # A constant inside the body needs no argument.
        sink_constants(op.body, captured_values(op.body))
        trips = self._trip_counts(op, math)
        iterations = math.product(trips)
        loop = _Loop(trips, op.lowerBound, op.upperBound, op.step, captured_values(op.body))
        # Without iterations, the block size would be 0, and dividing by it would be undefined.
        is_empty = math.compare("eq", iterations, math.constant(0))
        then, otherwise = Block(), Block()
        math.inside(then).emit(scf.YieldOp())
        inner = math.inside(otherwise)
        wanted = self._wanted_blocks(inner)
        # The last block may be shorter, but no block is empty.
        even = inner.ceil_div(iterations, wanted)
        size = inner.minimum(iterations, inner.maximum(even, min_task_size))
        count = inner.ceil_div(iterations, size)
        compute = _compute_function(op, loop, symbols)
        dispatch = _by_halves if self.async_dispatch else _in_a_loop
        call, starts = dispatch(loop, compute, size, count, inner, symbols)
        if self.join_on_failure:
            # Other blocks may still be using the captured values when the call fails.
            call.attributes[JOINS] = UnitAttr()
            starts.attributes[UNINTERRUPTED] = UnitAttr()
        inner.emit(scf.YieldOp())
        math.emit(scf.IfOp(is_empty, (), Region(then), Region(otherwise)))
        erase(op)

    def _trip_counts(self, op: scf.ParallelOp, math: IndexMath) -> list[SSAValue]:
        trips = []
        for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
            trip = math.trip_count(lower, upper, step)
            if self.clamp_trip_counts:
                trip = math.maximum(trip, math.constant(0))
            trips.append(trip)
        return trips

    def _wanted_blocks(self, math: IndexMath) -> SSAValue:
        """Return the maximum number of blocks, which is at least 1.

        The maximum is the worker count times a factor that depends on the worker count, rounded
        down. If `num_workers` is negative, the program computes the maximum when it runs.
        """
        if self.num_workers >= 0:
            return math.constant(self._most_blocks())
        emit = math.emit
        workers = emit(RuntimeNumWorkerThreadsOp()).result
        factor = _float(_BLOCKS_PER_WORKER[0][1], emit)
        limits = [limit for limit, _ in _BLOCKS_PER_WORKER]
        factors = [*(blocks for _, blocks in _BLOCKS_PER_WORKER[1:]), _BLOCKS_PER_WORKER_OF_MANY]
        for limit, blocks in zip(limits, factors, strict=True):
            is_more = math.compare("sgt", workers, math.constant(limit))
            factor = math.select(is_more, _float(blocks, emit), factor)
        count = emit(arith.SIToFPOp(emit(arith.IndexCastOp(workers, i32)), f32))
        scaled = emit(arith.FPToSIOp(emit(arith.MulfOp(factor, count)), i32))
        wanted = emit(arith.IndexCastOp(scaled, IndexType())).result
        return math.maximum(math.constant(1), wanted)

    def _most_blocks(self) -> int:
        factor = next(
            (factor for limit, factor in _BLOCKS_PER_WORKER if self.num_workers <= limit),
            _BLOCKS_PER_WORKER_OF_MANY,
        )
        return max(1, int(factor * self.num_workers))


def _float(value: float, emit: Emitter) -> SSAValue:
    return emit(arith.ConstantOp(FloatAttr(value, f32))).result


def _call_compute(
    emit: Emitter, compute: FuncOp, block: SSAValue, size: SSAValue, arguments: Sequence[SSAValue]
) -> CallOp:
    return emit(CallOp(compute.sym_name.data, [block, size, *arguments], ()))


def _in_a_loop(
    loop: _Loop, compute: FuncOp, size: SSAValue, count: SSAValue, math: IndexMath, symbols: Symbols
) -> tuple[CallOp, Operation]:
    """Start a task for each block except the first one, which the caller computes itself.

    Returns:
        the call that computes the first block, and the loop that starts the tasks.
    """
    zero, one = math.constant(0), math.constant(1)
    # The caller computes the first block itself, so the group has one member less than the block
    # count.
    group = math.emit(CreateGroupOp(math.sub(count, one))).result
    body, task_body = Block(arg_types=[IndexType()]), Block()
    task = math.inside(task_body).emit
    _call_compute(task, compute, body.args[0], size, loop.arguments)
    task(YieldOp())
    inner = math.inside(body).emit
    inner(AddToGroupOp(inner(ExecuteOp((), (), (), Region(task_body))).token, group))
    inner(scf.YieldOp())
    starts = math.emit(scf.ForOp(one, count, one, (), body))
    call = _call_compute(math.emit, compute, zero, size, loop.arguments)
    math.emit(AwaitAllOp(group))
    return call, starts


def _by_halves(
    loop: _Loop, compute: FuncOp, size: SSAValue, count: SSAValue, math: IndexMath, symbols: Symbols
) -> tuple[CallOp, Operation]:
    """Call the compute function if one block exists, and the dispatch function if several do.

    Returns:
        the call that dispatches the blocks, and the loop in which they are passed to tasks.
    """
    dispatch, starts = _dispatch_function(loop, compute, math, symbols)
    zero, one = math.constant(0), math.constant(1)
    is_one = math.compare("eq", count, one)
    alone, several = Block(), Block()
    direct = math.inside(alone).emit
    _call_compute(direct, compute, zero, size, loop.arguments)
    direct(scf.YieldOp())
    inner = math.inside(several)
    # Each halving starts one task, and it takes `count - 1` halvings to get `count` single blocks.
    group = inner.emit(CreateGroupOp(inner.sub(count, one))).result
    arguments = [group, zero, count, size, *loop.arguments]
    call = inner.emit(CallOp(dispatch.sym_name.data, arguments, ()))
    inner.emit(AwaitAllOp(group))
    inner.emit(scf.YieldOp())
    math.emit(scf.IfOp(is_one, (), Region(alone), Region(several)))
    return call, starts


def _dispatch_function(
    loop: _Loop, compute: FuncOp, outside: IndexMath, symbols: Symbols
) -> tuple[FuncOp, Operation]:
    """Build `async_dispatch_fn(group, start, end, block size, ...)`.

    The function passes all blocks except the block `start` to tasks in a loop. Then it computes the
    block `start`.

    Returns:
        the function and the loop.
    """
    inputs = [GROUP, *[IndexType()] * 3, *(value.type for value in loop.arguments)]
    entry = Block(arg_types=inputs)
    function = symbols.add("async_dispatch_fn", FunctionType.from_lists(inputs, ()), Region(entry))
    function.location = compute.location
    math = outside.inside(entry)
    one, two = math.constant(1), math.constant(2)
    _, start, end, size, *arguments = entry.args
    before, after = (Block(arg_types=[IndexType()] * 2) for _ in range(2))
    starts = math.emit(scf.WhileOp([start, end], [IndexType()] * 2, [before], [after]))
    test = math.inside(before)
    more = test.compare("sgt", test.sub(before.args[1], before.args[0]), one)
    test.emit(scf.ConditionOp(more, *before.args))
    _give_half_away(math.inside(after), two, function)
    _call_compute(math.emit, compute, start, size, arguments)
    math.emit(ReturnOp())
    return function, starts


def _give_half_away(math: IndexMath, two: SSAValue, dispatch: FuncOp) -> None:
    start, end = math.emit.block.args
    group, _, _, *rest = dispatch.args
    middle = math.add(start, math.div(math.sub(end, start), two))
    task_body = Block()
    task = math.inside(task_body).emit
    task(CallOp(dispatch.sym_name.data, [group, middle, end, *rest], ()))
    task(YieldOp())
    math.emit(AddToGroupOp(math.emit(ExecuteOp((), (), (), Region(task_body))).token, group))
    math.emit(scf.YieldOp(start, middle))


@dataclass(frozen=True)
class _Loop:
    """The parts of a parallel loop.

    `captured` contains the values that the loop captures. The other fields have one entry per
    dimension.
    """

    trips: Sequence[SSAValue]
    lower: Sequence[SSAValue]
    upper: Sequence[SSAValue]
    steps: Sequence[SSAValue]
    captured: Sequence[SSAValue]

    @property
    def arguments(self) -> list[SSAValue]:
        """Return all parts in the order of the compute function's arguments."""
        return [*self.trips, *self.lower, *self.upper, *self.steps, *self.captured]


def _compute_function(op: scf.ParallelOp, loop: _Loop, symbols: Symbols) -> FuncOp:
    """Build a new function with a copy of the loop's body."""
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


def _inside(outside: _Loop, entry: Block, math: IndexMath) -> _Loop:
    """Return the loop's parts inside the compute function: arguments, or constants if known."""
    rank = len(outside.trips)
    parameters = list(entry.args[2:])

    def part(number: int, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [
            argument if known is None else math.constant(known)
            for argument, known in zip(
                parameters[number * rank : (number + 1) * rank],
                map(integer_of, values),
                strict=True,
            )
        ]

    trips, lower = part(0, outside.trips), part(1, outside.lower)
    # The function takes the upper bounds because MLIR's does, but it uses only the trip counts.
    upper = parameters[2 * rank : 3 * rank]
    return _Loop(trips, lower, upper, part(3, outside.steps), parameters[4 * rank :])


@dataclass(frozen=True)
class _Extent:
    """The coordinates of the first and the last iteration of a block.

    `ends` contains the last coordinates plus one.
    """

    first: Sequence[SSAValue]
    last: Sequence[SSAValue]
    ends: Sequence[SSAValue]


def _first_and_last(
    loop: _Loop, block: SSAValue, size: SSAValue, one: SSAValue, math: IndexMath
) -> _Extent:
    iterations = math.product(loop.trips)
    first_number = math.mul(block, size)
    behind = math.minimum(math.add(first_number, size), iterations)
    last_number = math.sub(behind, one)
    first = _coordinates(first_number, loop.trips, math)
    last = _coordinates(last_number, loop.trips, math)
    return _Extent(first, last, [math.add(coordinate, one) for coordinate in last])


def _coordinates(number: SSAValue, trips: Sequence[SSAValue], math: IndexMath) -> list[SSAValue]:
    """Convert an iteration's number to one coordinate per dimension.

    The last coordinate varies fastest.
    """
    coordinates: list[SSAValue] = []
    for trip in reversed(trips):
        coordinates.insert(0, math.rem(number, trip))
        number = math.div(number, trip)
    return coordinates


@dataclass(frozen=True)
class _LoopNest:
    """The loops over the iterations of one block, with the body innermost.

    `outside` and `inside` are the parts of the parallel loop outside and inside the compute
    function.
    """

    op: scf.ParallelOp
    outside: _Loop
    inside: _Loop
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
        """Emit the loop of one dimension.

        `indices` are the induction values of the enclosing loops. `edges` contains two flags:
        whether all enclosing loops are in their first iteration, and whether all of them are in
        their last.
        """
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
            following = dimension + 1
            first = inner.select(is_first, self.extent.first[following], self.zero_and_one[0])
            behind = inner.select(
                is_last, self.extent.ends[following], self.inside.trips[following]
            )
            self._loop(inner, first, behind, indices, (is_first, is_last))
        inner.emit(scf.YieldOp())
        math.emit(scf.ForOp(start, end, self.zero_and_one[1], (), body))

    def _copy_body(self, indices: Sequence[SSAValue], math: IndexMath) -> None:
        values: dict[SSAValue, SSAValue] = dict(zip(self.op.body.block.args, indices, strict=True))
        values.update(zip(self.outside.captured, self.inside.captured, strict=True))
        for original in self.op.body.block.ops:
            if not isinstance(original, scf.ReduceOp):
                math.emit.put(copied(original, values))
