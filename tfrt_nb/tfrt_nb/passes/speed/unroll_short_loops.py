"""Mark short loops inside loops over elements, so that LLVM unrolls them.

    scf.for %i = %zero to %size step %one {                  scf.for %i = %zero to %size step %one {
      %x = memref.load %a[%i]                                  %x = memref.load %a[%i]
      %y = scf.for %j = %zero to %hundred step %one    =>      %y = scf.for %j = %zero to %hundred step %one
          iter_args(%v = %x) -> f64 {                              iter_args(%v = %x) -> f64 {
        %w = arith.mulf %v, %factor : f64                        %w = arith.mulf %v, %factor : f64
        scf.yield %w : f64                                       scf.yield %w : f64
      }                                                        } {tfrt.unroll}
      memref.store %y, %b[%i]                                  memref.store %y, %b[%i]
    }                                                        }

LLVM vectorizes only innermost loops. Here, the innermost loop is the short one, and each of its
iterations depends on the one before. After LLVM unrolls the short loop, the outer loop is the
innermost one. Each element is still computed by the same operations in the same order.

The pass runs after loops have become interruptible and before they become blocks.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tfrt_nb.passes.control_flow import UNROLL, operations_in
from tfrt_nb.passes.safety.interruptible_loops import trip_count

MAX_OPERATIONS = 512
"""The maximum number of operations in an unrolled loop."""
_COMPUTING = frozenset({"arith", "math"})


@dataclass(frozen=True)
class UnrollShortLoops(ModulePass):
    """Marks loops that LLVM should unroll."""

    name: ClassVar[str] = "async-unroll-short-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in operations_in(op):
            if isinstance(loop, scf.ForOp) and _is_short(loop) and _is_over_elements(loop.parent):
                loop.attributes[UNROLL] = UnitAttr()


def _is_short(loop: scf.ForOp) -> bool:
    """Return whether the loop only computes and has a small, constant number of iterations."""
    rounds, body = trip_count(loop), loop.body.block
    size = 0 if rounds is None else rounds * (len(body.ops) - 1)
    return 0 < size <= MAX_OPERATIONS and all(map(_computes, body.ops))


def _is_over_elements(block: Block | None) -> bool:
    """Return whether `block` is the body of a loop that only loads, computes, and stores."""
    if block is None or not isinstance(block.parent_op(), scf.ForOp):
        return False
    return all(
        _computes(op)
        or isinstance(op, memref.LoadOp | memref.StoreOp)
        or (isinstance(op, scf.ForOp) and _is_short(op))
        for op in block.ops
    )


def _computes(op: Operation) -> bool:
    return op.name.partition(".")[0] in _COMPUTING or isinstance(op, scf.YieldOp)
