"""Sizes of buffers, and casts of buffers that whoever uses them need not see."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Attribute, Operation

from tfrt_nb.passes.folds.integers import defined_by, number_of
from tfrt_nb.passes.greedy.constants import integer
from tfrt_nb.passes.greedy.driver import Folded, Folder

Constants = Sequence[Attribute | None]


def _see_through(*places: int) -> Folder:
    """Use what is cast in these operands instead of the cast."""

    def fold(op: Operation, constants: Constants) -> Folded:
        has_changed = False
        for place in places:
            cast = defined_by(op.operands[place], "memref.cast")
            if cast is not None and isinstance(cast.operands[0].type, MemRefType):
                op.operands[place] = cast.operands[0]
                has_changed = True
        return () if has_changed else None

    return fold


def _cast(op: Operation, constants: Constants) -> Folded:
    if op.operands[0].type == op.results[0].type:
        return [op.operands[0]]
    return _see_through(0)(op, constants)


def _dim(op: Operation, constants: Constants) -> Folded:
    index = number_of(constants[1])
    type_ = op.operands[0].type
    if index is None or not isinstance(type_, MemRefType):
        return None
    shape = type_.get_shape()
    if not 0 <= index < len(shape):
        return None
    if shape[index] != DYNAMIC_INDEX:
        return [integer(shape[index], IndexType())]
    made = defined_by(op.operands[0], "memref.alloc", "memref.alloca")
    if made is not None:
        return [made.operands[shape[:index].count(DYNAMIC_INDEX)]]
    view = defined_by(op.operands[0], "memref.view")
    if view is not None:
        return [view.operands[2 + shape[:index].count(DYNAMIC_INDEX)]]
    return _see_through(0)(op, constants)


def _rank(op: Operation, constants: Constants) -> Folded:
    type_ = op.operands[0].type
    if not isinstance(type_, MemRefType):
        return None
    return [integer(len(type_.get_shape()), IndexType())]


def sizes_may_be_forgotten(cast: Operation) -> bool:
    """Whether the cast only forgets sizes, and its user may as well know them."""
    source, target = cast.operands[0].type, cast.results[0].type
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType):
        return False
    return source.layout == target.layout and all(
        theirs == DYNAMIC_INDEX or ours != DYNAMIC_INDEX
        for ours, theirs in zip(source.get_shape(), target.get_shape(), strict=True)
    )


def _copy(op: Operation, constants: Constants) -> Folded:
    has_changed = False
    for index, operand in enumerate(op.operands):
        cast = defined_by(operand, "memref.cast")
        if cast is not None and sizes_may_be_forgotten(cast):
            op.operands[index] = cast.operands[0]
            has_changed = True
    return () if has_changed else None


FOLDERS: dict[str, Folder] = {
    "memref.cast": _cast,
    "memref.dim": _dim,
    "memref.rank": _rank,
    "memref.load": _see_through(0),
    "memref.store": _see_through(1),
    "memref.dealloc": _see_through(0),
    "memref.atomic_rmw": _see_through(1),
    "memref.copy": _copy,
}
