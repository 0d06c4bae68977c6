"""Insert operations that report what a program does: events for the board, steps for `--explore`.

A program that a board shows logs which blocks start and which functions are called.

    func.func @main(%c: i1) -> i32 {        func.func @main(%c: i1) -> i32 {
      %r = scf.if %c -> i32 {                 async.runtime.log block 0
        %x = func.call @work() : () -> i32  =>  %r = scf.if %c -> i32 {
        scf.yield %x : i32                      async.runtime.log block 1
      } else {                                  async.runtime.log enter 2
        ...                                     %x = func.call @work() : () -> i32
                                                async.runtime.log leave 2
                                                scf.yield %x : i32
                                              } else {
                                                async.runtime.log block 3

A block runs to its end unless the run fails or is cancelled. Therefore, the events show which
operations ran, even though pure computations log nothing. The location of its first operation
identifies a block. The body of a task needs no event, because the runtime already reports when a
task starts.

LLVM does not vectorize a loop body that contains a call. For a counted loop, the pass therefore
logs the start of the body before the loop, on the condition that the loop has an iteration.

In a program that is explored, each effect that other tasks may notice starts a new step.

    func.call @printI64(%x) : (i64) -> ()   =>  %t = async.execute { async.yield }
                                                async.await %t : !async.token
                                                call @external.touch(%0, %notes, %line)
                                                func.call @printI64(%x) : (i64) -> ()

Without the pass, a task in a schedule runs without interruption from one await to the next. In a
real run, however, other workers may do anything between two effects of the task. When a coroutine
awaits an empty task, it returns to the scheduler, which chooses among the steps that are ready.
Code outside tasks blocks there until the scheduler chooses the empty task.

The call to `external.touch` reports what the step touches. The explorer tries two steps in both
orders only if they touch the same memory or state. An access to a buffer that only one function can
reach does not start a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeIsLiveOp,
    RuntimeLogOp,
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.runtime import RuntimeIsErrorOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.upstream.printing import PrintOp
from tfrt_nb.internal_errors import location_of
from tfrt_nb.passes.buffers.guard_buffers import ON_HEAP, accessed, escapes, root
from tfrt_nb.passes.buffers.guard_views import bytes_of, dimension_size
from tfrt_nb.passes.control_flow import Emitter, ancestors, call, operations_in
from tfrt_nb.passes.lowering.coroutines import WAITING

LOGGED = frozenset({"scf.if", "scf.while", "scf.index_switch", "scf.execute_region"})
"""The operations whose blocks log their own start."""
COUNTED = frozenset({"scf.for", "scf.parallel"})
"""The operations whose body start is logged before the operation."""


@dataclass(frozen=True)
class LogEvents(ModulePass):
    """Adds `async.runtime.log` to blocks and around calls to the program's own functions."""

    name: ClassVar[str] = "async-log-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [one for one in op.body.block.ops if isinstance(one, PlainFuncOp | FuncOp)]
        # Tasks with equal bodies already share a function, so its operations do not belong to one
        # task.
        shared = {
            one.callee.root_reference.data
            for one in operations_in(op)
            if isinstance(one, RuntimeSpawnOp)
        }
        defined = frozenset(one.sym_name.data for one in functions if one.body.blocks)
        sites = count()
        for function in functions:
            if function.sym_name.data in defined - shared:
                _log_region(function.body, function, sites, defined, True)


def _log_region(
    region: Region, owner: Operation, sites: Iterator[int], called: frozenset[str], begins: bool
) -> None:
    """Add events to the region of `owner`.

    The first block gets an event only if `begins` is true.
    """
    for index, block in enumerate(list(region.blocks)):
        ops = list(block.ops)
        if begins or index > 0:
            first = _first(block, owner)
            if first is not None:
                Emitter.at_start(block, first.location)(RuntimeLogOp("block", next(sites)))
        for op in ops:
            if isinstance(op, CallOp | PlainCallOp) and op.callee.root_reference.data in called:
                site = next(sites)
                Emitter.in_front_of(op)(RuntimeLogOp("enter", site))
                Emitter.behind(op)(RuntimeLogOp("leave", site))
            is_counted = op.name in COUNTED
            if is_counted:
                _log_rounds(op, sites)
            if is_counted or op.name in LOGGED or isinstance(op, ExecuteOp):
                for inner in op.regions:
                    _log_region(inner, op, sites, called, op.name in LOGGED)


def _first(block: Block, owner: Operation) -> Operation | None:
    """Return the first operation of a block that has a location.

    Return None if passes created the block for `owner`.
    """
    first = next((op for op in block.ops if location_of(op) is not None), None)
    return None if first is None or first.location == owner.location else first


def _log_rounds(loop: Operation, sites: Iterator[int]) -> None:
    """Log the start of a loop's body before the loop, on the condition that the body runs."""
    first = _first(loop.regions[0].blocks[0], loop)
    if first is None:
        return
    emit = Emitter.in_front_of(loop)
    if isinstance(loop, scf.ParallelOp):
        bounds = list(zip(loop.lowerBound, loop.upperBound, strict=True))
    else:
        assert isinstance(loop, scf.ForOp)
        bounds = [(loop.lb, loop.ub)]
    has_round: SSAValue | None = None
    for lower, upper in bounds:
        below = emit(arith.CmpiOp(lower, upper, "slt")).result
        has_round = below if has_round is None else emit(arith.AndIOp(has_round, below)).result
    # The event is about the body, so it has the body's location even though it is before the loop.
    Emitter(emit.block, loop, first.location)(RuntimeLogOp("block", next(sites), has_round))


TOUCH = "external.touch"
"""The name of a function `(address, kind, line)` that reports an effect of a step.

`kind` is the kind of effect, and `line` its line in the program.
"""
OUTPUT, READ, WRITE, MEMORY, STATE = range(5)
"""Kinds of effects.

`OUTPUT` prints or calls Python. `READ` and `WRITE` access the element at the address. `MEMORY`
accesses arbitrary memory. `STATE` checks whether an object is an error.
"""
_ELEMENT = (memref.LoadOp, memref.StoreOp, memref.AtomicRMWOp, RuntimeCompareExchangeOp)


@dataclass(frozen=True)
class Interleave(ModulePass):
    """Lets other tasks run before each effect that they may notice.

    These effects are prints, Python calls, error checks, and accesses to shared buffers. The pass
    also moves buffers from `memref.alloca` that are not in loops or branches to the heap, because
    only there can the runtime distinguish an unwritten element from a zero.
    """

    name: ClassVar[str] = "async-interleave"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        for one in _frame_buffers(op):
            one.attributes[ON_HEAP] = UnitAttr()
        if not _has_noticed_effects(op):
            return
        declared = {
            one.sym_name.data
            for one in op.ops
            if isinstance(one, PlainFuncOp) and one.is_declaration
        }
        frees = any(isinstance(one, RuntimeFreeBufferOp) for one in operations)
        touch = PlainFuncOp.external(TOUCH, [IndexType()] * 3, [])
        op.body.block.add_op(touch)
        for one in operations:
            kind = _kind(one, declared, frees=frees)
            if kind is not None:
                _separate(one, kind, touch)


def is_needed(module: ModuleOp) -> bool:
    """Return whether `Interleave` would change anything."""
    return bool(_frame_buffers(module)) or _has_noticed_effects(module)


def _frame_buffers(module: ModuleOp) -> list[Operation]:
    """Return every `memref.alloca` that a function or a task executes at most once.

    If the operation ran repeatedly, buffers on the heap would accumulate.
    """
    return [
        op
        for op in operations_in(module)
        if isinstance(op, memref.AllocaOp)
        and (block := op.parent_block()) is not None
        and isinstance(block.parent_op(), PlainFuncOp | AsyncFuncOp | ExecuteOp)
        # A branch may lead to any block except the entry block, so only that one cannot be in a
        # loop.
        and block.prev_block is None
    ]


def _has_noticed_effects(module: ModuleOp) -> bool:
    """Return whether tasks may have effects, or code may check the state of tasks.

    Effects of code outside tasks do not matter, because tasks cannot notice them.
    """
    return any(
        op.name in _ASKING or (op.name.startswith(_NOTICED) and _is_in_task(op))
        for op in operations_in(module)
    )


# `is_needed` sees programs before their parallel loops become tasks.
_ASKING = frozenset({RuntimeIsErrorOp.name, "scf.parallel"})
_NOTICED = ("func.call", "linalg.", "memref.", "vector.")


def _kind(op: Operation, declared: set[str], *, frees: bool) -> int | None:
    """Return the kind of an operation's effect, or None if other tasks cannot notice the effect.

    `frees` says whether the program frees buffers.
    """
    match op:
        case PrintOp():
            return OUTPUT
        case PlainCallOp() if op.callee.root_reference.data in declared:
            buffers = (MemRefType, UnrankedMemRefType)
            return MEMORY if any(isinstance(t, buffers) for t in op.operand_types) else OUTPUT
        case RuntimeIsErrorOp():
            return None if _is_awaited(op) else STATE
        case RuntimeFreeBufferOp():
            return MEMORY
        case RuntimeIsLiveOp():
            # If nothing is freed, the answer is the same in every schedule.
            return MEMORY if frees else None
        case _:
            return _access(op)


def _is_in_task(op: Operation) -> bool:
    return any(isinstance(outer, ExecuteOp | AsyncFuncOp) for outer in ancestors(op))


def _access(op: Operation) -> int | None:
    buffers = [root(buffer) for buffer in accessed(op)]
    made = (memref.AllocOp, memref.AllocaOp)
    if not any(not isinstance(one.owner, made) or escapes(one, one.owner) for one in buffers):
        return None
    if not isinstance(op, _ELEMENT) or not isinstance(_buffer(op).type.layout, NoneAttr):
        return MEMORY
    return READ if isinstance(op, memref.LoadOp) else WRITE


def _is_awaited(op: RuntimeIsErrorOp) -> bool:
    """Return whether the object was awaited earlier in the block.

    If so, the result of the check is known.
    """
    before = op.prev_op
    while before is not None and not (type(before) in WAITING and op.operand in before.operands):
        before = before.prev_op
    return before is not None


def _separate(op: Operation, kind: int, touch: PlainFuncOp) -> None:
    emit = Emitter.in_front_of(op)
    empty = Emitter.at_end(Block(), op.location)
    empty(YieldOp())
    # Awaiting an empty task lets the scheduler run any other ready step first.
    emit(AwaitOp(emit(ExecuteOp([], [], [], Region(empty.block))).token))
    address = _address(op, emit) if kind in (READ, WRITE) else emit.integer(0)
    place = location_of(op)
    emit(call(touch, [address, emit.integer(kind), emit.integer(place.line if place else 0)]))


def _address(op: Operation, emit: Emitter) -> SSAValue:
    """Emit the address of the element that `op`, an operation of `_ELEMENT`, accesses."""
    buffer = _buffer(op)
    sizes = buffer.type.get_shape()
    number = emit.integer(0)
    # The indices are the last operands.
    # At rank 0, a negative start would select all operands.
    indices = op.operands[len(op.operands) - len(sizes) :]
    for dimension, (index, size) in enumerate(zip(indices, sizes, strict=True)):
        known = dimension_size(emit, buffer, dimension, size)
        number = emit(arith.AddiOp(emit(arith.MuliOp(number, known)).result, index)).result
    offset = emit(arith.MuliOp(number, emit.integer(bytes_of(buffer.type.element_type)))).result
    start = emit(memref.ExtractAlignedPointerAsIndexOp.get(buffer)).aligned_pointer
    return emit(arith.AddiOp(start, offset)).result


def _buffer(op: Operation) -> SSAValue[MemRefType]:
    """Return the buffer that `op`, an operation of `_ELEMENT`, accesses."""
    found = op.buffer if isinstance(op, RuntimeCompareExchangeOp) else op.memref  # type: ignore[attr-defined]
    return cast(SSAValue[MemRefType], found)
