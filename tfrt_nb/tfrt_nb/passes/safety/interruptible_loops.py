"""Make loops stop when their run is cancelled.

    cf.br ^loop                    cf.br ^loop
    ^loop:                         ^loop:
      "work"()            =>         async.runtime.check_interrupt
      cf.br ^loop                    "work"()
                                     cf.br ^loop

If the run is cancelled, the check makes the function fail, and the function drops all its
references as on any other error path. The check costs a load and a branch. It would also keep LLVM
from vectorizing a small loop, because no later code can run ahead of the check. Therefore, the pass
divides an `scf.for` loop with short iterations into pieces, and checks once per piece:

    scf.for %i = %lo to %hi step 1 {        scf.while (%c = %lo) { %c < %hi } do {
      "work"(%i)                      =>      async.runtime.check_interrupt
    }                                         scf.for %i = %c to min(%c + 4096, %hi) step 1 {
                                                "work"(%i)
                                              }
                                              yield %c + 4096
                                            }

Starting a task counts as a few dozen operations, whatever the task does, because a task of a
cancelled run does not start.

A function that may run for a long time only because of its calls checks when it is called. A loop
with few iterations does not check. The pass turns the remaining parallel loops into sequential
ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    MemRefType,
    ModuleOp,
    UnitAttr,
)
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCheckInterruptOp,
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.runtime import RuntimeAddToGroupOp
from tfrt_nb.dialects.async_.tasks import AddToGroupOp, ExecuteOp
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.passes.control_flow import (
    Emitter,
    integer_of,
    move_to_end,
    operations_in,
    returning_edges,
    terminator_of,
)
from tfrt_nb.passes.lowering.call_graph import (
    callee_of,
    callees,
    callees_first,
    recursive_functions,
)
from tfrt_nb.passes.lowering.convert_scf_to_cf import sequential_loops
from tfrt_nb.passes.lowering.coroutines import UNINTERRUPTED
from tfrt_nb.passes.safety.guard_operations import first_block

NEVER_WRAPS = "never_wraps"
"""The attribute of a sum that is known to stay below the largest number.

The overflow flags in a user's program make the same promise. The passes do not rely on those flags,
because they may be wrong.
"""
_OPERATIONS_IN_A_PIECE = 2**16
"""The approximate number of operations between two checks, which take about 10 microseconds."""
_ELEMENTS_COPIED_AT_ONCE = 8
"""The number of elements that a copy can process in the time of one other operation."""
_OPERATIONS_TO_START_A_TASK = 32
"""The number of operations that take as long as starting a task."""
MIN_ROUNDS = 16
"""The minimum number of iterations in a piece; a loop with longer iterations is not divided."""
_QUICK_DIALECTS = frozenset({"arith", "math", "memref", "ub"})
_STRUCTURED = (scf.IfOp, scf.IndexSwitchOp, scf.YieldOp, cf.AssertOp)


@dataclass(frozen=True)
class InterruptibleLoops(ModulePass):
    """Adds `async.runtime.check_interrupt` to loops and to recursive functions."""

    name: ClassVar[str] = "async-interruptible-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for parallel in operations_in(op):
            if isinstance(parallel, scf.ParallelOp):
                sequential_loops(parallel)
        for function in _lasting_functions(op):
            if isinstance(function, FuncOp):
                _check_at_start(first_block(function), function)
            else:
                _check_at_start(function.body.blocks[0], function)
        lengths: dict[Operation, int | None] = {}
        # Dividing a loop moves operations but does not copy them, so the list stays valid.
        for nested in operations_in(op):
            # Only this loop is skipped: the list also contains the loops inside it.
            if UNINTERRUPTED in nested.attributes:
                continue
            if isinstance(nested, scf.ForOp):
                _check_counted(nested, lengths)
            elif isinstance(nested, scf.WhileOp):
                _check_at_start(nested.after_region.block, nested)
            for region in nested.regions:
                for header, branch in _loop_headers(region).items():
                    _check_at_start(header, branch)


def _lasting_functions(module: ModuleOp) -> list[FuncOp | AsyncFuncOp]:
    """Return the functions that may run for a long time only because of their calls.

    Such a function is recursive, or is at the top of a pyramid of calls. A function that calls
    another function twice takes twice as long as its callee. After twenty such levels, the top
    function takes a million times as long, without any loop.
    """
    functions = {
        one.sym_name.data: one
        for one in module.body.block.ops
        if isinstance(one, FuncOp | AsyncFuncOp)
    }
    graph = callees(module)
    recursive = recursive_functions(graph)
    lengths: dict[str, int] = {}
    found = []
    for name in (name for names in callees_first(graph) for name in names):
        if name not in functions:
            continue
        length = _stretch(functions[name], lengths)
        # A function that checks counts as one operation for its callers.
        is_lasting = name in recursive or length > _OPERATIONS_IN_A_PIECE
        lengths[name] = 1 if is_lasting else length
        if is_lasting:
            found.append(functions[name])
    return found


def _stretch(op: Operation, lengths: Mapping[str, int]) -> int:
    """Estimate how many operations run without a check.

    `lengths` contains the estimates for the functions.
    """
    callee = callee_of(op)
    if callee is not None:
        # A callee without an estimate is in the same cycle of calls, whose functions check when
        # they are called.
        return lengths.get(callee, 1)
    inner = sum(
        _stretch(o, lengths) for region in op.regions for block in region.blocks for o in block.ops
    )
    if isinstance(op, scf.ForOp):
        trips = trip_count(op)
        in_all = inner if trips is None else inner * trips
        return (
            in_all if in_all <= _OPERATIONS_IN_A_PIECE else inner
        )  # a longer loop has its own checks
    own = _own_length(op)
    return inner + (_OPERATIONS_IN_A_PIECE if own is None else own)


def _check_at_start(block: Block, loop: Operation) -> None:
    Emitter.at_start(block, loop.location)(RuntimeCheckInterruptOp())


def _loop_headers(region: Region) -> dict[Block, Operation]:
    """Map the target block of each back edge to one of the branches to that block."""
    if len(region.blocks) < 2:
        return {}
    found: dict[Block, Operation] = {}
    for end, header in returning_edges(region):
        found.setdefault(header, terminator_of(end))
    return found


def _check_counted(loop: scf.ForOp, lengths: dict[Operation, int | None]) -> None:
    # Counting passes treat references to carried values block by block, and pieces would carry more
    # values.
    is_simple = not any(map(is_async, loop.iter_args))
    length = _length(loop.body.block.ops, lengths) if is_simple else None
    rounds = 0 if length is None else _OPERATIONS_IN_A_PIECE // length
    if rounds < MIN_ROUNDS:
        _check_at_start(loop.body.block, loop)
        return
    trips = trip_count(loop)
    if trips is None or trips > rounds:
        _check_in_pieces(loop, rounds)


def trip_count(loop: scf.ForOp) -> int | None:
    """Return the loop's number of iterations, or None if it is not constant."""
    lower, upper, step = map(integer_of, (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -((lower - upper) // step))


def _length(ops: Iterable[Operation], lengths: dict[Operation, int | None]) -> int | None:
    """Return the maximum number of operations in one iteration, or None if there may be very many.

    `lengths` maps each inner loop to its length before it was divided.
    """
    total = 1
    for op in ops:
        if op not in lengths and isinstance(op, scf.ForOp):
            lengths[op] = _length_of(op, lengths)
        inner = lengths[op] if op in lengths else _length_of(op, lengths)
        if inner is None:
            return None
        total += inner
    return total


def _length_of(op: Operation, lengths: dict[Operation, int | None]) -> int | None:
    match op:
        case scf.ForOp():
            rounds, length = trip_count(op), _length(op.body.block.ops, lengths)
            return None if rounds is None or length is None else rounds * length
        case ExecuteOp() | RuntimeSpawnOp():
            return _OPERATIONS_TO_START_A_TASK
        case AddToGroupOp() | RuntimeAddToGroupOp():
            return 1
    if isinstance(op, PlainCallOp) or not (
        isinstance(op, _STRUCTURED) or op.name.partition(".")[0] in _QUICK_DIALECTS
    ):
        return None
    total = _own_length(op)
    if total is None:
        return None
    for region in op.regions:
        for block in region.blocks:
            inner = _length(block.ops, lengths)
            if inner is None:
                return None
            total += inner
    return total


def _own_length(op: Operation) -> int | None:
    """Return the duration of an operation without its regions, in plain operations.

    Return None if the duration is unknown.
    """
    if not isinstance(op, memref.CopyOp):
        return 1
    type_ = op.source.type
    assert isinstance(type_, MemRefType)
    if DYNAMIC_INDEX in type_.get_shape():
        return None
    return 1 + prod(type_.get_shape()) // _ELEMENTS_COPIED_AT_ONCE


def _check_in_pieces(loop: scf.ForOp, rounds: int) -> None:
    """Divide a loop into pieces of `rounds` iterations, with a check before each piece.

    If the step is unknown, not positive, or too large, the loop checks in every iteration instead.
    """
    type_ = loop.lb.type
    step = integer_of(loop.step)
    largest = 2 ** ((type_.width.data if isinstance(type_, IntegerType) else 64) - 1) - 1
    # If `rounds` steps exceed half of the largest number, adding them would overflow for most upper
    # bounds.
    if step is None or step <= 0 or step * rounds > largest // 2:
        _check_at_start(loop.body.block, loop)
        return
    emit = Emitter.in_front_of(loop)
    stride = _stride(emit, loop, step * rounds, largest - step * rounds)
    pieces = _while_below(emit, loop)
    inside = Emitter.at_end(pieces.after_region.block, loop.location)
    start, *carried = pieces.after_region.block.args
    inside(RuntimeCheckInterruptOp())
    step_on = inside(arith.AddiOp(start, stride))
    step_on.attributes[NEVER_WRAPS] = UnitAttr()
    behind = step_on.result
    end = inside(arith.MinSIOp(behind, loop.ub)).result
    for result, total in zip(loop.results, pieces.results[1:], strict=True):
        result.replace_all_uses_with(total)
    move_to_end(loop, inside.block)
    loop.operands = [start, end, loop.step, *carried]
    inside(scf.YieldOp(behind, *loop.results))


def _stride(emit: Emitter, loop: scf.ForOp, span: int, farthest: int) -> SSAValue:
    """Emit the distance between the starts of two pieces.

    The distance is `span`, or the loop's step if adding `span` might overflow.
    """

    def constant(number: int) -> SSAValue:
        return emit.integer(number, loop.lb.type)

    upper = integer_of(loop.ub)
    if upper is not None:
        return constant(span) if upper <= farthest else loop.step
    fits = emit(arith.CmpiOp(loop.ub, constant(farthest), "sle")).result
    return emit(arith.SelectOp(fits, constant(span), loop.step)).result


def _while_below(emit: Emitter, loop: scf.ForOp) -> scf.WhileOp:
    """Emit `scf.while (%c = lower bound, values) : %c < upper bound`, with an empty body."""
    initial = [loop.lb, *loop.iter_args]
    types = [value.type for value in initial]
    before, after = Block(arg_types=types), Block(arg_types=types)
    test = Emitter.at_end(before, loop.location)
    test(scf.ConditionOp(test(arith.CmpiOp(before.args[0], loop.ub, "slt")).result, *before.args))
    return emit(scf.WhileOp(initial, types, [before], [after]))
