"""Expand operations of `memref` into simpler operations.

    %old = memref.generic_atomic_rmw     =>  %first = memref.load %m[%i]
        %m[%i] {                             %old = scf.while (%now = %first) {
      ^bb0(%now: f32):                         %new = arith.mulf %now, %two
      %new = arith.mulf %now, %two             %found, %done = compare_exchange %now, %new, %m[%i]
      memref.atomic_yield %new                 condition(not %done) %found
    }                                        } do { yield }

A `memref.atomic_rmw` that the processor cannot do in one step first becomes a
`memref.generic_atomic_rmw`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    ModuleOp,
    UnitAttr,
)
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeCompareExchangeOp
from tfrt_nb.dialects.async_.upstream.atomics import AtomicRMWOp, AtomicYieldOp, GenericAtomicRMWOp
from tfrt_nb.passes.control_flow import (
    Emitter,
    erase,
    exchange,
    operations_in,
    replace,
    terminator_of,
    truth,
)
from tfrt_nb.passes.lowering.coroutines import UNINTERRUPTED

_BY_LOOP: dict[str, type[Operation]] = {"mulf": arith.MulfOp, "muli": arith.MuliOp}
"""The kinds of `memref.atomic_rmw` that the processor cannot do in one step."""


@dataclass(frozen=True)
class ExpandBuffers(ModulePass):
    """Replaces the operations of `_EXPANSIONS`."""

    name: ClassVar[str] = "async-expand-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            expand = _EXPANSIONS.get(nested.name)
            if expand is not None:
                expand(nested)


def _atomic_rmw(op: AtomicRMWOp) -> None:
    combine = _BY_LOOP.get(op.operation)
    if combine is None:
        return
    body = Block(arg_types=[op.value.type])
    emit = Emitter.at_end(body, op.location)
    new = emit(combine.create(operands=[body.args[0], op.value], result_types=[op.value.type]))
    emit(AtomicYieldOp.build(operands=new.results))
    generic = GenericAtomicRMWOp.build(
        operands=[op.memref, op.indices], result_types=[op.result.type], regions=[Region(body)]
    )
    exchange(op, generic)
    _generic_atomic_rmw(generic)


def _generic_atomic_rmw(op: GenericAtomicRMWOp) -> None:
    emit = Emitter.in_front_of(op)
    first = emit(memref.LoadOp.get(op.memref, op.indices)).res
    compute, again = op.detach_region(op.body), Block(arg_types=[first.type])
    op.add_region(Region(Block()))
    now, end = compute.block.args[0], terminator_of(compute.block)
    test = Emitter.in_front_of(end)
    exchange = test(RuntimeCompareExchangeOp(now, end.operands[0], op.memref, op.indices))
    missed = test(arith.XOrIOp(exchange.is_done, test(truth(True)).result)).result
    test(scf.ConditionOp(missed, exchange.found))
    erase(end)
    Emitter.at_end(again, op.location)(scf.YieldOp(again.args[0]))
    loop = emit(scf.WhileOp([first], [first.type], compute, [again]))
    loop.attributes[UNINTERRUPTED] = UnitAttr()
    replace(op, loop.results)


_EXPANSIONS: dict[str, Callable[[Any], None]] = {
    AtomicRMWOp.name: _atomic_rmw,
    GenericAtomicRMWOp.name: _generic_atomic_rmw,
}
