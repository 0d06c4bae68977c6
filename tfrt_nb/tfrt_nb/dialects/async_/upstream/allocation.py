"""Operations of `memref` on the life and the shape of a buffer, with MLIR's custom form."""

from __future__ import annotations

from typing import Self

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Block, Operation
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.edges import verify_edge
from tfrt_nb.dialects.async_.types import BUFFER
from tfrt_nb.dialects.async_.upstream.replacing import written_as


@irdl_op_definition
class ReallocOp(IRDLOperation):
    """`memref.realloc %m(%n) : memref<4xf32> to memref<?xf32>`: a buffer of another size.

    It begins with the elements of the source, as far as it has room, and the source is given back.
    """

    name = "memref.realloc"
    source = operand_def(MemRefType)
    size = opt_operand_def(IndexType)
    alignment = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source (`(` $size^ `)`)? attr-dict `:` type($source) `to` type($result)"

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, MemRefType) and isinstance(result, MemRefType)
        for what, type_ in (("operand", source), ("result", result)):
            if len(type_.get_shape()) != 1:
                text = f"{what} #0 must be 1D memref of any type values, but got '{type_}'"
                raise VerifyException(text)
            if not isinstance(type_.layout, NoneAttr):
                raise VerifyException(f"unsupported layout for {what} memref type '{type_}'")
        if source.element_type != result.element_type:
            raise VerifyException(
                f"different element types specified for source memref type '{source}' and result "
                f"memref type '{result}'"
            )
        is_dynamic = result.get_shape()[0] == DYNAMIC_INDEX
        if is_dynamic != (self.size is not None):
            word = "missing" if is_dynamic else "unnecessary"
            raise VerifyException(f"{word} dimension operand for result type '{result}'")
        alignment = 1 if self.alignment is None else self.alignment.value.data
        if alignment < 1 or alignment.bit_count() != 1:
            raise VerifyException(f"Alignment attribute {alignment} is not a power of 2")


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """`memref.reshape %m(%sizes) : (memref<12xf32>, memref<2xindex>) -> memref<?x?xf32>`."""

    name = "memref.reshape"
    source = operand_def(BUFFER)
    shape = operand_def(MemRefType)
    result = result_def(BUFFER)

    assembly_format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        source, shape, result = self.source.type, self.shape.type, self.result.type
        assert isinstance(source, MemRefType | UnrankedMemRefType)
        assert isinstance(result, MemRefType | UnrankedMemRefType)
        assert isinstance(shape, MemRefType)
        is_of_sizes = isinstance(shape.element_type, IntegerType | IndexType)
        if len(shape.get_shape()) != 1 or not is_of_sizes:
            text = "operand #1 must be 1D memref of signless integer or index values"
            raise VerifyException(f"{text}, but got '{shape}'")
        if source.element_type != result.element_type:
            raise VerifyException(
                "element types of source and destination memref types should be the same"
            )
        if isinstance(source, MemRefType) and not isinstance(source.layout, NoneAttr):
            raise VerifyException("source memref type should have identity affine map")
        if not isinstance(result, MemRefType):
            return
        if not isinstance(result.layout, NoneAttr):
            raise VerifyException("result memref type should have identity affine map")
        [rank] = shape.get_shape()
        if rank == DYNAMIC_INDEX:
            text = "cannot use shape operand with dynamic length to reshape to statically-ranked memref"
            raise VerifyException(f"{text} type")
        if rank != len(result.get_shape()):
            raise VerifyException("length of shape operand differs from the result's memref rank")


class AllocaScopeOp(memref.AllocaScopeOp):
    """`memref.alloca_scope -> (T) { ... memref.alloca_scope.return %x : T }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        if not types and not isinstance(region.blocks[-1].last_op, AllocaScopeReturnOp):
            region.blocks[-1].add_op(AllocaScopeReturnOp.build(operands=[[]]))
        attributes = parser.parse_optional_attr_dict()
        return cls.build(result_types=[types], regions=[region], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")  # as MLIR
        if self.res:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.scope, print_block_terminators=bool(self.res))
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if not self.scope.blocks:
            raise VerifyException("expects its region to have a block")
        for block in self.scope.blocks:
            if isinstance(block.last_op, AllocaScopeReturnOp):
                given = block.last_op.operand_types
                verify_edge("Region #0", "parent results", given, self.result_types)


@written_as("attr-dict ($ops^ `:` type($ops))?")
class AllocaScopeReturnOp(memref.AllocaScopeReturnOp):
    """`memref.alloca_scope.return %x : T`."""

    def verify_(self) -> None:
        """What it returns is verified by the scope."""


OPERATIONS: tuple[type[Operation], ...] = (AllocaScopeOp, AllocaScopeReturnOp)
"""What replaces operations of xDSL."""
MORE_OPERATIONS: tuple[type[Operation], ...] = (ReallocOp, ReshapeOp)
"""What xDSL lacks."""
