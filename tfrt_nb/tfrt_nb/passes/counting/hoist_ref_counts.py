"""A loop that starts tasks with the same value takes the references of all of them at once.

    scf.for %i = %lo to %hi step %one {             %n = max(%hi - %lo, 0)
      async.runtime.add_ref %t {count = 1}          async.runtime.add_refs %t, %n
      call @take(%t)                          =>    scf.for %i = %lo to %hi step %one {
    }                                                 call @take(%t)
                                                    }

The review D90716 asks for this: "if you had inc_rc and dec_rc explicit, and both were in a loop,
you could hoist the increments".  Each round gives a reference away, so the number of rounds is what
is added, as one operation; where it is known, as the `count` of an `async.runtime.add_ref`.  No
drops are in such loops: tasks and callees drop what they own.

A loop that is still structured when references are counted is not left early, so that what is added
in front of it is handed over in it: a check for cancellation, a failing call, or an await has made
blocks of its loop by then, and counts stay in those.  `async-interruptible-loops` cuts long loops
of task starts into such pieces. Counts that the program itself writes stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i64
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeAddRefsOp,
    RuntimeCheckInterruptOp,
    RuntimeCheckOp,
)
from tfrt_nb.dialects.async_.runtime import BY_HAND, RuntimeAddRefOp
from tfrt_nb.passes.control_flow import Emitter, defining_block, erase, integer_of, operations_in
from tfrt_nb.passes.safety.interruptible_loops import trip_count

_LEAVES = (RuntimeCheckInterruptOp, RuntimeCheckOp, cf.AssertOp)
"""The operations that become exits of a loop, if no pass has lowered them yet."""


@dataclass(frozen=True)
class HoistRefCounts(ModulePass):
    """Moves `async.runtime.add_ref` of values from outside in front of loops."""

    name: ClassVar[str] = "async-hoist-ref-counts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # From the inside: what is in front of an inner loop is in the outer one.
        for loop in reversed(operations_in(op)):
            if isinstance(loop, scf.ForOp) and not any(
                isinstance(inner, _LEAVES) for inner in operations_in(loop)
            ):
                _hoist(loop)


def _hoist(loop: scf.ForOp) -> None:
    counts = [op for op in loop.body.block.ops if _is_movable(op, loop)]
    step, trips = integer_of(loop.step), trip_count(loop)
    if not counts or step is None or step <= 0:
        return
    totals: dict[SSAValue, int] = {}
    for count in counts:
        totals[count.operand] = totals.get(count.operand, 0) + count.count.value.data
        erase(count)
    emit = Emitter.in_front_of(loop)
    if trips is None:
        rounds = _rounds(emit, loop, step)
        for value, each in totals.items():
            number = rounds if each == 1 else emit(arith.MuliOp(rounds, emit.integer(each))).result
            emit(RuntimeAddRefsOp(value, number))
    elif trips > 0:
        for value, each in totals.items():
            emit(RuntimeAddRefOp(value, each * trips))


def _is_movable(op: object, loop: scf.ForOp) -> bool:
    """Whether the operation adds references of a value from outside, and the program has not
    written it.
    """
    return (
        type(op) is RuntimeAddRefOp
        and BY_HAND not in op.attributes
        and not loop.is_ancestor(defining_block(op.operand))
    )


def _rounds(emit: Emitter, loop: scf.ForOp, step: int) -> SSAValue:
    """Return the number of iterations, as an index: `lower < upper ? (upper - lower - 1) / step + 1
    : 0`.

    The bounds may be so far apart that only an unsigned number has their difference.
    """
    type_ = loop.lb.type
    count = emit(arith.SubiOp(loop.ub, loop.lb)).result
    if step != 1:
        one = emit.integer(1, type_)
        steps = emit(arith.DivUIOp(emit(arith.SubiOp(count, one)), loop.step))
        count = emit(arith.AddiOp(steps, one)).result
    runs = emit(arith.CmpiOp(loop.lb, loop.ub, "slt"))
    rounds = emit(arith.SelectOp(runs, count, emit.integer(0, type_))).result
    if isinstance(type_, IndexType):
        return rounds
    if isinstance(type_, IntegerType) and type_.width.data < 64:
        rounds = emit(arith.ExtUIOp(rounds, i64)).result
    return emit(arith.IndexCastOp(rounds, IndexType())).result
