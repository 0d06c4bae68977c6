"""What is folded in place: branches that are the wrong way round."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue

from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import integer_of
from tfrt_nb.passes.greedy.driver import Folded, Folder


def complemented(value: SSAValue) -> SSAValue | None:
    """What `value` is the opposite of."""
    made = defined_by(value, "arith.xori")
    return made.operands[0] if made is not None and integer_of(made.operands[1]) == -1 else None


def swap_branches(op: Operation, constants: Sequence[Attribute | None] = ()) -> Folded:
    """With an opposite as its condition, the branches are the other way round."""
    inner = complemented(op.operands[0])
    then, otherwise = op.regions
    if inner is None or not otherwise.blocks:
        return None
    op.operands[0] = inner
    kept = Region()
    then.move_blocks(kept)
    otherwise.move_blocks(then)
    kept.move_blocks(otherwise)
    return ()


FOLDERS: dict[str, Folder] = {"scf.if": swap_branches}
