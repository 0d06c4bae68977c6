"""`linalg`, of which operations on buffers can be compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.linalg import Linalg as known
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.replacing import with_operations

# xDSL lets the next two have integers and floats, but not indices.


class FillOp(ops.FillOp):
    """`linalg.fill ins(%x : index) outs(%m : memref<?xindex>)`."""

    @staticmethod
    def body_arg_types(operands: Sequence[SSAValue]) -> Sequence[Any]:
        return _element_types(operands)

    def verify_(self) -> None:
        LinalgStructuredOperation.verify_(self)


class CopyOp(ops.CopyOp):
    """`linalg.copy ins(%m : memref<?xindex>) outs(%n : memref<?xindex>)`."""

    @staticmethod
    def body_arg_types(operands: Sequence[SSAValue]) -> Sequence[Any]:
        return _element_types(operands)


def _element_types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [_element_type(value.type) for value in values]


def _element_type(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, MemRefType | TensorType) else type_


class YieldOp(ops.YieldOp):
    """`linalg.yield %x : f32`: an element of each result."""

    def verify_(self) -> None:
        around = self.parent_op()
        if not isinstance(around, LinalgStructuredOperation):
            return
        if len(self.operands) != len(around.outputs):
            raise VerifyException(
                f"expected number of yield values ({len(self.operands)}) to match the number of "
                f"inits / outs operands of the enclosing LinalgOp ({len(around.outputs)})"
            )
        if not isinstance(around, ops.GenericOp):
            return
        for number, (value, buffer) in enumerate(zip(self.operands, around.outputs, strict=True)):
            element = _element_type(buffer.type)
            if value.type != element:
                raise VerifyException(
                    f"type of yield operand {number + 1} ('{value.type}') doesn't match the element "
                    f"type of the enclosing linalg.generic op ('{element}')"
                )


class IndexOp(ops.IndexOp):
    """`linalg.index 0 : index`."""

    def verify_(self) -> None:
        around = self.parent_op()
        if isinstance(around, LinalgStructuredOperation):
            dimension, loops = self.dim.value.data, around.get_num_loops()
            if not 0 <= dimension < loops:
                raise VerifyException(
                    f"expected dim ({dimension}) to be lower than the number of loops ({loops}) "
                    "of the enclosing LinalgOp"
                )


OPERATIONS: tuple[type[Operation], ...] = (FillOp, CopyOp, IndexOp, YieldOp)
"""What replaces operations of xDSL."""

Linalg = with_operations(known, OPERATIONS)
