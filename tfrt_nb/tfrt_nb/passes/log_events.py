"""Make watched programs log which blocks start and which functions are called.

    func.func @main(%c: i1) -> i32 {             func.func @main(%c: i1) -> i32 {
      %r = scf.if %c -> i32 {                      async.runtime.log block 0
        %x = func.call @work() : () -> i32   =>    %r = scf.if %c -> i32 {
        scf.yield %x : i32                           async.runtime.log block 1
      } else {                                       async.runtime.log enter 2
        ...                                          %x = func.call @work() : () -> i32
                                                     async.runtime.log leave 2
                                                     scf.yield %x : i32
                                                   } else {
                                                     async.runtime.log block 3

A reader can then tell of each operation whether it ran, although pure computations log nothing
themselves: a block runs from its start to its end unless the run fails or is cancelled. The
location of the first operation represents the block. The body of a task needs no event of its own
because the task's event says that it starts.

A counted loop logs before its body, if the loop has an iteration at all, because LLVM does not
vectorize a body with calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeLogOp, RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import CallOp, FuncOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.internal_errors import location_of
from tfrt_nb.passes.control_flow import Emitter, operations_in

LOGGED = frozenset({"scf.if", "scf.while", "scf.index_switch", "scf.execute_region"})
"""The operations whose blocks log their own start."""
COUNTED = frozenset({"scf.for", "scf.parallel"})
"""The operations before which the start of their blocks is logged."""


@dataclass(frozen=True)
class LogEvents(ModulePass):
    """Adds `async.runtime.log` to blocks and around calls of the program's own functions."""

    name: ClassVar[str] = "async-log-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [one for one in op.body.block.ops if isinstance(one, PlainFuncOp | FuncOp)]
        # Tasks with equal bodies share a function by now, so its operations cannot be attributed to
        # one task.
        shared = {
            one.callee.root_reference.data
            for one in operations_in(op)
            if isinstance(one, RuntimeSpawnOp | RuntimeSpawnIntoOp)
        }
        defined = frozenset(one.sym_name.data for one in functions if one.body.blocks)
        sites = count()
        for function in functions:
            if function.sym_name.data in defined - shared:
                _log_region(function.body, function, sites, defined, True)


def _log_region(
    region: Region, owner: Operation, sites: Iterator[int], called: frozenset[str], begins: bool
) -> None:
    """Add events to the region of `owner`; `begins` adds one for its first block, too."""
    for index, block in enumerate(list(region.blocks)):
        ops = list(block.ops)
        if begins or index > 0:
            _log_block(block, owner, sites)
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
    """Return the operation that represents a block, or None if passes created it for `owner`."""
    placed = (op for op in block.ops if location_of(op) is not None)
    first = next(placed, None)
    return None if first is None or first.location == owner.location else first


def _log_block(block: Block, owner: Operation, sites: Iterator[int]) -> None:
    first = _first(block, owner)
    if first is not None:
        Emitter.at_start(block, first.location)(RuntimeLogOp("block", next(sites)))


def _log_rounds(loop: Operation, sites: Iterator[int]) -> None:
    """Log before a loop, if its body runs at all."""
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
    # The event has the location of the body, although it is before the loop.
    Emitter(emit.block, loop, first.location)(RuntimeLogOp("block", next(sites), has_round))
