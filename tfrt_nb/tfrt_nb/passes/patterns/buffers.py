"""Buffers that nobody reads, sizes that are known, casts that say nothing new."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefType, i32
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_.buffers import CastOp
from tfrt_nb.passes.folds.buffers import sizes_may_be_forgotten
from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import integer_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter


def _known_sizes(op: Operation, rewriter: Rewriter) -> bool:
    """Known sizes go to the type."""
    type_ = op.results[0].type
    segments = op.properties["operandSegmentSizes"]
    assert isinstance(type_, MemRefType) and isinstance(segments, DenseArrayBase)
    count = int(segments.get_values()[0])
    given, symbols = list(op.operands[:count]), list(op.operands[count:])
    known = [_size(value) for value in given]
    if all(size is None for size in known):
        return False
    left: list[SSAValue] = []
    shape = []
    sizes = iter(zip(given, known, strict=True))
    for size in type_.get_shape():
        if size == DYNAMIC_INDEX:
            value, number = next(sizes)
            size = DYNAMIC_INDEX if number is None else number
            if number is None:
                left.append(value)
        shape.append(size)
    new_type = MemRefType(type_.element_type, shape, type_.layout, type_.memory_space)
    new = type(op).create(
        operands=[*left, *symbols],
        result_types=[new_type],
        properties={
            **op.properties,
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(left), len(symbols)]),
        },
    )
    rewriter.insert(new, op)
    rewriter.replace_with(op, CastOp.create(operands=new.results, result_types=[type_]))
    return True


def _size(value: SSAValue) -> int | None:
    number = integer_of(value)
    return number if number is not None and number >= 0 else None


def _never_read(op: Operation, rewriter: Rewriter) -> bool:
    """What is only written, or freed, need not be there."""
    [buffer] = op.results
    users = [use.operation for use in buffer.uses]
    for user in users:
        is_written = user.name == "memref.store" and user.operands[0] is not buffer
        if not is_written and user.name != "memref.dealloc":
            return False
    for user in users:
        rewriter.erase(user)
    rewriter.erase(op)
    return True


def _copy_of_cast(op: Operation, rewriter: Rewriter) -> bool:
    has_changed = False
    for index, operand in enumerate(op.operands):
        cast = defined_by(operand, "memref.cast")
        if cast is not None and sizes_may_be_forgotten(cast):
            rewriter.set_operand(op, index, cast.operands[0])
            has_changed = True
    return has_changed


def _copy_of_nothing(op: Operation, rewriter: Rewriter) -> bool:
    """A copy of a buffer to itself, or of one without elements."""
    is_empty = any(isinstance(t, MemRefType) and 0 in t.get_shape() for t in op.operand_types)
    if not is_empty and op.operands[0] is not op.operands[1]:
        return False
    rewriter.erase(op)
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "memref.alloc": (_known_sizes, _never_read),
    "memref.alloca": (_known_sizes, _never_read),
    "memref.copy": (_copy_of_cast, _copy_of_nothing),
}
