"""Assertions in front of operations of `vector` that access a buffer: all lanes are in it.

Lanes of `vector.transfer_read` and `vector.transfer_write` may be outside, unless the operation says that
they are not: only the first one is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, cf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.passes.control_flow import Emitter
from tfrt_nb.passes.guard_views import dimension_size


def guard_vector(op: Operation) -> None:
    """Put assertions in front of one of these operations."""
    match op:
        case vector.LoadOp():
            _guard(op, op.base, op.indices, _lanes(op.result.type))
        case vector.StoreOp():
            _guard(op, op.base, op.indices, _lanes(op.vector.type))
        case vector.TransferReadOp():
            _guard(op, op.source, op.indices, _lanes(op.result.type) if _is_inside(op) else 0)
        case vector.TransferWriteOp():
            _guard(op, op.source, op.indices, _lanes(op.vector.type) if _is_inside(op) else 0)
        case _:
            pass


def _lanes(type_: Attribute) -> int:
    return type_.get_shape()[-1] if isinstance(type_, VectorType) and type_.get_shape() else 1


def _is_inside(op: vector.TransferReadOp | vector.TransferWriteOp) -> bool:
    return all(isinstance(one, IntegerAttr) and bool(one.value.data) for one in op.in_bounds)


def _guard(op: Operation, buffer: SSAValue, indices: Sequence[SSAValue], lanes: int) -> None:
    """Each index is one of the buffer, and so are the last one's neighbours; with no lanes, it may be
    the one behind the last."""
    if not isinstance(buffer.type, MemRefType):
        return
    emit = Emitter.in_front_of(op)
    for dimension, (index, size) in enumerate(zip(indices, buffer.type.get_shape(), strict=True)):
        limit = dimension_size(emit, buffer, dimension, size)
        text = f"index #{dimension} is out of bounds"
        # Unsigned: a negative index is a very large one.
        if dimension < len(indices) - 1:
            _expect(emit, arith.CmpiOp(index, limit, "ult"), text)
            continue
        needed = emit(arith.ConstantOp(IntegerAttr(lanes, IndexType()))).result
        _expect(emit, arith.CmpiOp(needed, limit, "ule"), text)
        last = emit(arith.SubiOp(limit, needed)).result
        _expect(emit, arith.CmpiOp(index, last, "ule"), text)


def _expect(emit: Emitter, comparison: arith.CmpiOp, text: str) -> None:
    emit(cf.AssertOp(emit(comparison).result, text))
