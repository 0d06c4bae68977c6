"""Parallel loops become blocks of iterations that run as tasks.

    scf.parallel (%i) = (%lo) to (%hi) step (%st) { body }

The iterations of all dimensions are numbered 0 ... N-1 (the innermost counts fastest) and cut into
blocks of equal size, enough of them to keep the workers busy.  A function computes one block:

    parallel_compute_fn(block, block size, trip counts, bounds and steps, captured values)

Blocks are started by a function that gives away half of its blocks as a task until one is left, or, with
`async-dispatch=false`, by a loop.  The caller then waits for all of them.

Invariants: each iteration belongs to exactly one block; no block is started that has none.
Loops with reductions are left alone, or become loops over blocks first (`parallel_reduction`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, FunctionType, IndexType, ModuleOp, UnitAttr, f32, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.runtime import RuntimeNumWorkerThreadsOp
from tfrt_nb.dialects.async_.tasks import (
    AddToGroupOp,
    AwaitAllOp,
    CreateGroupOp,
    ExecuteOp,
    YieldOp,
)
from tfrt_nb.dialects.async_.types import GROUP
from tfrt_nb.passes.awaiting import JOINS, UNINTERRUPTED
from tfrt_nb.passes.control_flow import Emitter, erase
from tfrt_nb.passes.folding import fold_constants
from tfrt_nb.passes.index_math import IndexMath, constant_value
from tfrt_nb.passes.outline import Symbols, captured_values, sink_constants
from tfrt_nb.passes.parallel_compute import Loop, compute_function
from tfrt_nb.passes.parallel_reduction import can_split_reduction, split_reduction

_BLOCKS_PER_WORKER = ((4, 8.0), (8, 4.0), (16, 2.0), (32, 1.0), (64, 0.8))
"""With up to so many workers, so many blocks for each: few workers need finer blocks to even out."""
_BLOCKS_PER_WORKER_OF_MANY = 0.6
_MOST_PARTS = 256
"""Blocks of a loop with reductions at most, where the number of workers is not known."""


@dataclass(frozen=True)
class AsyncParallelFor(ModulePass):
    """Lowers `scf.parallel`.

    `num_workers` -1 asks the runtime.  A block has at least `min_task_size` iterations.
    `clamp_trip_counts` departs from MLIR: without it two dimensions whose bounds are the wrong way
    round count as a loop that runs.  `reductions` departs, too: loops with reductions run in parallel.
    """

    name: ClassVar[str] = "async-parallel-for"

    async_dispatch: bool = True
    num_workers: int = 8
    min_task_size: int = 1000
    clamp_trip_counts: bool = False
    join_on_failure: bool = False
    reductions: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_constants(op)
        symbols = Symbols(op)
        # The last first, and outer ones before inner ones, as MLIR numbers the functions.
        for loop in reversed(list(op.walk(region_first=True))):
            if isinstance(loop, scf.ParallelOp) and not loop.initVals:
                self._lower(loop, symbols)
            elif isinstance(loop, scf.ParallelOp) and self.reductions and can_split_reduction(loop):
                replace(self, min_task_size=1)._lower(self._over_blocks(loop), symbols)

    def _over_blocks(self, op: scf.ParallelOp) -> scf.ParallelOp:
        """Let blocks of iterations reduce, each for itself."""
        math = _math_in_front_of(op)
        most = _MOST_PARTS if self.num_workers < 0 else self._most_blocks()
        trips = self._trip_counts(op, math)
        iterations = trips[0]
        for trip in trips[1:]:
            iterations = math.mul(iterations, trip)
        wanted = math.minimum(self._wanted_blocks(math), math.constant(most))
        even = math.ceil_div(iterations, wanted)
        size = math.maximum(even, math.constant(max(1, self.min_task_size)))
        return split_reduction(op, trips, most, size, math)

    def _lower(self, op: scf.ParallelOp, symbols: Symbols) -> None:
        math = _math_in_front_of(op)
        there_before = set(math.entry.ops)
        min_task_size = math.constant(self.min_task_size)
        constants = captured_values(op.body)
        sink_constants(op.body, constants)
        trips = self._trip_counts(op, math)
        iterations = trips[0]
        for trip in trips[1:]:
            iterations = math.mul(iterations, trip)
        captured = captured_values(op.body)
        compute = compute_function(op, trips, captured, symbols)
        loop = Loop(trips, op.lowerBound, op.upperBound, op.step, captured)
        is_empty = math.compare("eq", iterations, math.constant(0))
        body = Block()
        inner = math.at(Emitter.at_end(body, op.location))
        blocks_wanted = self._wanted_blocks(inner)
        size, count = _cut(iterations, blocks_wanted, min_task_size, inner)
        if self.async_dispatch:
            call, starts = _dispatch_by_halves(loop, compute, size, count, inner, symbols)
        else:
            call, starts = _dispatch_in_a_loop(loop, compute, size, count, inner)
        if self.join_on_failure:
            call.attributes[JOINS] = UnitAttr()
            starts.attributes[UNINTERRUPTED] = UnitAttr()
        inner.emit(scf.YieldOp())
        math.emit(scf.IfOp(is_empty, (), [scf.YieldOp()], Region(body)))
        erase(op)
        _erase_unused_constants(constants)
        _settle_constants(math.entry, there_before, min_task_size, blocks_wanted)

    def _trip_counts(self, op: scf.ParallelOp, math: IndexMath) -> list[SSAValue]:
        trips = []
        for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
            trip = math.ceil_div(math.sub(upper, lower), step)
            if self.clamp_trip_counts:
                trip = math.maximum(trip, math.constant(0))
            trips.append(trip)
        return trips

    def _wanted_blocks(self, math: IndexMath) -> SSAValue:
        """How many blocks there may be at most: some for each worker, at least one."""
        if self.num_workers < 0:
            return _wanted_blocks_at_run_time(math)
        return math.constant(self._most_blocks())

    def _most_blocks(self) -> int:
        factor = next(
            (factor for limit, factor in _BLOCKS_PER_WORKER if self.num_workers <= limit),
            _BLOCKS_PER_WORKER_OF_MANY,
        )
        return max(1, int(factor * self.num_workers))


def _erase_unused_constants(values: Sequence[SSAValue]) -> None:
    """Constants that only the body of the loop used."""
    for value in values:
        if isinstance(value.owner, arith.ConstantOp) and value.first_use is None:
            erase(value.owner)


def _settle_constants(
    entry: Block, there_before: set[Operation], min_task_size: SSAValue, blocks_wanted: SSAValue
) -> None:
    """Put new constants where MLIR's folding puts them.

    Each goes to the start of the block when its turn comes.  Only the first, the least size of a task,
    stays where it is made if a constant or nothing is in front of it.
    """
    new = [op for op in entry.ops if isinstance(op, arith.ConstantOp) and op not in there_before]
    new.sort(key=_turns(blocks_wanted))
    first = min_task_size.owner
    if isinstance(first, arith.ConstantOp) and first in new:
        new.remove(first)
        before = first.prev_op
        while before in new:
            before = before.prev_op
        if before is not None and not isinstance(before, arith.ConstantOp):
            new.insert(0, first)
    for constant in new:
        if constant.parent is entry and constant is not entry.first_op:
            assert entry.first_op is not None
            entry.detach_op(constant)
            entry.insert_op_before(constant, entry.first_op)


def _turns(blocks_wanted: SSAValue) -> Callable[[arith.ConstantOp], int]:
    """0 is made first and 1 last; the number of blocks, if it is known, is found by folding then."""

    def turn(constant: arith.ConstantOp) -> int:
        if constant.result is blocks_wanted:
            return 3
        number = constant_value(constant.result)
        return 1 if number is None else {0: 0, 1: 2}.get(number, 1)

    return turn


def _math_in_front_of(op: scf.ParallelOp) -> IndexMath:
    """Constants go in front of the outermost `scf` operation around the loop, or of the loop."""
    outermost: Operation = op
    holder = op.parent_op()
    while holder is not None and holder.name.startswith("scf."):
        outermost, holder = holder, holder.parent_op()
    assert outermost.parent is not None
    return IndexMath(Emitter.in_front_of(op), outermost.parent, outermost)


def _wanted_blocks_at_run_time(math: IndexMath) -> SSAValue:
    emit = math.emit

    def number(value: float) -> SSAValue:
        """A constant beside those of `math`."""
        made = arith.ConstantOp(FloatAttr(value, f32))
        return Emitter(math.entry, math.constants_before, emit.location)(made).result

    workers = emit(RuntimeNumWorkerThreadsOp()).result
    factor = number(_BLOCKS_PER_WORKER[0][1])
    limits = [limit for limit, _ in _BLOCKS_PER_WORKER]
    factors = [*(blocks for _, blocks in _BLOCKS_PER_WORKER[1:]), _BLOCKS_PER_WORKER_OF_MANY]
    for limit, blocks in zip(limits, factors, strict=True):
        is_more = math.compare("sgt", workers, math.constant(limit))
        factor = math.select(is_more, number(blocks), factor)
    count = emit(arith.SIToFPOp(emit(arith.IndexCastOp(workers, i32)), f32))
    scaled = emit(arith.FPToSIOp(emit(arith.MulfOp(factor, count)), i32))
    wanted = emit(arith.IndexCastOp(scaled, IndexType())).result
    return math.maximum(wanted, math.constant(1))


def _cut(
    iterations: SSAValue, blocks_wanted: SSAValue, min_task_size: SSAValue, math: IndexMath
) -> tuple[SSAValue, SSAValue]:
    """The size of a block and how many there are; the last may be shorter, none is empty."""
    even = math.ceil_div(iterations, blocks_wanted)
    size = math.minimum(iterations, math.maximum(even, min_task_size))
    return size, math.ceil_div(iterations, size)


def _call_compute(
    emit: Emitter, compute: FuncOp, block: SSAValue, size: SSAValue, arguments: Sequence[SSAValue]
) -> CallOp:
    return emit(CallOp(compute.sym_name.data, [block, size, *arguments], ()))


def _dispatch_in_a_loop(
    loop: Loop, compute: FuncOp, size: SSAValue, count: SSAValue, math: IndexMath
) -> tuple[CallOp, Operation]:
    """A task for each block but the first, which the call that is returned runs here; and the loop
    that starts the tasks."""
    zero, one = math.constant(0), math.constant(1)
    group = math.emit(CreateGroupOp(math.sub(count, one))).result
    body = Block(arg_types=[IndexType()])
    inner = Emitter.at_end(body, math.emit.location)
    task_body = Block()
    task = Emitter.at_end(task_body, math.emit.location)
    _call_compute(task, compute, body.args[0], size, loop.arguments)
    task(YieldOp())
    token = inner(ExecuteOp((), (), (), Region(task_body))).token
    inner(AddToGroupOp(token, group))
    inner(scf.YieldOp())
    starts = math.emit(scf.ForOp(one, count, one, (), body))
    call = _call_compute(math.emit, compute, zero, size, loop.arguments)
    math.emit(AwaitAllOp(group))
    return call, starts


def _dispatch_by_halves(
    loop: Loop, compute: FuncOp, size: SSAValue, count: SSAValue, math: IndexMath, symbols: Symbols
) -> tuple[CallOp, Operation]:
    """A lone block runs here; several are given away by halves by the call that is returned, and the
    loop that gives them away."""
    zero, one = math.constant(0), math.constant(1)
    dispatch, starts = _dispatch_function(loop, compute, symbols)
    alone, several = Block(), Block()
    direct = Emitter.at_end(alone, math.emit.location)
    _call_compute(direct, compute, zero, size, loop.arguments)
    direct(scf.YieldOp())
    inner = math.at(Emitter.at_end(several, math.emit.location))
    group = inner.emit(CreateGroupOp(inner.sub(count, one))).result
    arguments = [group, zero, count, size, *loop.arguments]
    call = inner.emit(CallOp(dispatch.sym_name.data, arguments, ()))
    inner.emit(AwaitAllOp(group))
    inner.emit(scf.YieldOp())
    is_one = math.compare("eq", count, one)
    math.emit(scf.IfOp(is_one, (), Region(alone), Region(several)))
    return call, starts


def _dispatch_function(loop: Loop, compute: FuncOp, symbols: Symbols) -> tuple[FuncOp, Operation]:
    """`async_dispatch_fn(group, start, end, block size, ...)`: computes `start`, gives the rest away
    in a loop, which is returned, too."""
    inputs = [GROUP, *[IndexType()] * 3, *(value.type for value in loop.arguments)]
    entry = Block(arg_types=inputs)
    type_ = FunctionType.from_lists(inputs, ())
    function = symbols.add("async_dispatch_fn", type_, Region(entry))
    function.location = compute.location
    math = IndexMath(Emitter.at_end(entry, compute.location), entry, None)
    one, two = math.constant(1), math.constant(2)
    _, start, end, size, *arguments = entry.args
    before = _more_than_one(math, one)
    after = _give_half_away(math, two, function)
    starts = math.emit(scf.WhileOp([start, end], [IndexType()] * 2, [before], [after]))
    _call_compute(math.emit, compute, start, size, arguments)
    math.emit(ReturnOp())
    return function, starts


def _more_than_one(math: IndexMath, one: SSAValue) -> Block:
    block = Block(arg_types=[IndexType()] * 2)
    inner = math.at(Emitter.at_end(block, math.emit.location))
    start, end = block.args
    more = inner.compare("sgt", inner.sub(end, start), one)
    inner.emit(scf.ConditionOp(more, start, end))
    return block


def _give_half_away(math: IndexMath, two: SSAValue, dispatch: FuncOp) -> Block:
    block = Block(arg_types=[IndexType()] * 2)
    inner = math.at(Emitter.at_end(block, math.emit.location))
    start, end = block.args
    group, _, _, *rest = dispatch.args
    middle = inner.add(start, inner.div(inner.sub(end, start), two))
    task_body = Block()
    task = Emitter.at_end(task_body, math.emit.location)
    task(CallOp(dispatch.sym_name.data, [group, middle, end, *rest], ()))
    task(YieldOp())
    token = inner.emit(ExecuteOp((), (), (), Region(task_body))).token
    inner.emit(AddToGroupOp(token, group))
    inner.emit(scf.YieldOp(start, middle))
    return block
