"""Watched programs log which blocks begin, and which functions are called.

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

So a reader knows of each operation whether it ran, though what only computes logs nothing itself: a
block runs from its start to its end, unless the run fails or is cancelled.  A place stands for the
first operation of its block.  The body of a task needs no event: that of the task says that it
begins.

A loop that counts logs in front of its body, if it has a round: LLVM would not make vectors of a
body that calls.
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
"""The operations whose blocks log that they begin."""
COUNTED = frozenset({"scf.for", "scf.parallel"})
"""The operations that log in front of them that their blocks begin."""


@dataclass(frozen=True)
class LogEvents(ModulePass):
    """Adds `async.runtime.log` to blocks and around calls of the program's own functions."""

    name: ClassVar[str] = "async-log-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [one for one in op.body.block.ops if isinstance(one, PlainFuncOp | FuncOp)]
        # Tasks of equal bodies share a function already, so its operations are not those of one
        # task.
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
    """Log in the region of `owner`; `begins`: also that its first block begins."""
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
    """The operation that stands for a block; None for a block that passes have made of `owner`."""
    placed = (op for op in block.ops if location_of(op) is not None)
    first = next(placed, None)
    return None if first is None or first.location == owner.location else first


def _log_block(block: Block, owner: Operation, sites: Iterator[int]) -> None:
    first = _first(block, owner)
    if first is not None:
        Emitter.at_start(block, first.location)(RuntimeLogOp("block", next(sites)))


def _log_rounds(loop: Operation, sites: Iterator[int]) -> None:
    """Log in front of a loop, if its body runs at all."""
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
    Emitter(emit.block, loop, first.location)(RuntimeLogOp("block", next(sites), has_round))
