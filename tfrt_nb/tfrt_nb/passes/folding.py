"""What MLIR's greedy rewriting does to any program beside the patterns that it is given.

Constants go to the start of their function, equal ones become one, and what has no effect and no
user goes away.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, Region
from xdsl.traits import IsolatedFromAbove
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tfrt_nb.passes.control_flow import erase


def fold_constants(module: ModuleOp) -> None:
    """Tidy up every function of the module, and the functions of modules in it."""
    for op in module.walk():
        if op.has_trait(IsolatedFromAbove) and not isinstance(op, ModuleOp):
            for region in op.regions:
                if region.blocks:
                    _hoist_constants(region)
                    _erase_dead_operations(region)


def _hoist_constants(region: Region) -> None:
    """Move each constant in front of all others, unless it stands behind one that was not moved.

    That is the order that MLIR leaves: constants at the start stay, others come in front of them.
    """
    entry = region.blocks[0]
    unique: dict[tuple[Attribute, Attribute], Operation] = {}
    for constant in [op for op in _operations(region) if isinstance(op, arith.ConstantOp)]:
        key = constant.value, constant.result.type
        known = unique.get(key)
        if known is not None:
            constant.result.replace_all_uses_with(known.results[0])
            erase(constant)
            continue
        unique[key] = constant
        before = constant.prev_op
        is_in_place = before is None or before in unique.values()
        if constant.parent is not entry or not is_in_place:
            assert constant.parent is not None and entry.first_op is not None
            constant.parent.detach_op(constant)
            entry.insert_op_before(constant, entry.first_op)


def _erase_dead_operations(region: Region) -> None:
    for op in reversed(list(_operations(region))):
        if op.results and is_trivially_dead(op):
            erase(op)


def _operations(region: Region) -> Iterator[Operation]:
    """The operations in the region, but not those that see nothing of it."""
    for block in region.blocks:
        for op in block.ops:
            yield op
            if not op.has_trait(IsolatedFromAbove):
                for nested in op.regions:
                    yield from _operations(nested)
