"""Operations of `linalg` on buffers become loops over their elements.

    linalg.fill ins(%x : f32) outs(%m : memref<?xf32>)

    =>  %size = memref.dim %m, %zero
        scf.parallel (%i) = (%zero) to (%size) step (%one) {
          memref.store %x, %m[%i]
        }

Parallel dimensions are one `scf.parallel`, reductions a nest of `scf.for` in it.  MLIR leaves it undefined
what happens when the sizes of buffers do not fit each other; here that is asserted in front of the loops,
which then need no check of each access, as far as indices are the loops' own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.passes.control_flow import operations_in

_INSIDE = frozenset({"linalg.yield"})


@dataclass(frozen=True)
class ConvertLinalgToParallelLoops(ModulePass):
    """Lowers every operation of `linalg`."""

    name: ClassVar[str] = "convert-linalg-to-parallel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [one for one in operations_in(op) if one.name.startswith("linalg.")]
        if not found:
            return
        from tfrt_nb.passes.buffers.linear_loops import lower  # most programs do without

        for nested in found:
            if nested.name not in _INSIDE:
                lower(nested)
