"""`memref` in MLIR's custom form where xDSL has only the generic one, and operations that it lacks."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import BUFFER
from tfrt_nb.dialects.async_.upstream.replacing import written_as

_Buffer = MemRefType | UnrankedMemRefType


@written_as("$source `,` $destination attr-dict `:` type($source) `to` type($destination)")
class CopyOp(memref.CopyOp):
    """`memref.copy %a, %b : memref<4xf32> to memref<?xf32>`: sizes may be known on one side only."""

    def verify_(self) -> None:
        self.get_irdl_definition().verify(self)
        source, target = self.source.type, self.destination.type
        assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
        if source.element_type != target.element_type:
            raise VerifyException("requires the same element type for all operands")
        if not _have_compatible_shapes(source, target):
            raise VerifyException("requires the same shape for all operands")


def _have_compatible_shapes(one: MemRefType, other: MemRefType) -> bool:
    sizes, others = one.get_shape(), other.get_shape()
    return len(sizes) == len(others) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(sizes, others, strict=True)
    )


_CAST = "$source attr-dict `:` type($source) `to` type($dest)"


@written_as(_CAST)
class CastOp(memref.CastOp):
    """`memref.cast %m : memref<4xf32> to memref<?xf32>`."""

    def verify_(self) -> None:
        super().verify_()
        source, target = self.source.type, self.dest.type
        if not _are_castable(source, target):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _are_castable(source: Attribute, target: Attribute) -> bool:
    """Whether one buffer may be the other: one of them may be of any rank."""
    assert isinstance(source, _Buffer) and isinstance(target, _Buffer)
    if isinstance(source, MemRefType) and isinstance(target, MemRefType):
        are_shaped_alike = _have_compatible_shapes(source, target)
    else:
        are_shaped_alike = isinstance(source, MemRefType) or isinstance(target, MemRefType)
    return are_shaped_alike and source.element_type == target.element_type


@written_as(_CAST)
class MemorySpaceCastOp(memref.MemorySpaceCastOp):
    """`memref.memory_space_cast %m : memref<?xf32, 1> to memref<?xf32>`."""


@written_as("$source attr-dict `:` type($source) `->` type($aligned_pointer)")
class ExtractAlignedPointerOp(memref.ExtractAlignedPointerAsIndexOp):
    """`memref.extract_aligned_pointer_as_index %m : memref<?xf32> -> index`."""


@irdl_op_definition
class RankOp(IRDLOperation):
    """`memref.rank %m : memref<*xf32>`."""

    name = "memref.rank"
    source = operand_def(BUFFER)
    rank = result_def(IndexType)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$source attr-dict `:` type($source)"

    def __init__(self, source: SSAValue) -> None:
        Operation.__init__(self, operands=[source], result_types=[IndexType()])


OPERATIONS: tuple[type[Operation], ...] = (
    CastOp,
    CopyOp,
    ExtractAlignedPointerOp,
    MemorySpaceCastOp,
    RankOp,
)
"""What replaces operations of xDSL."""
