"""The upstream dialects that async programs are written in, with MLIR's syntax where xDSL has none.

xDSL defines `memref.cast`, `memref.global` and others but reads them in generic form only.  The classes
here, in `arithmetic`, `atomics`, `buffers`, `conversions`, `loops` and `views` are the same operations with the custom form added, and those
that xDSL lacks.
"""

from __future__ import annotations

from io import StringIO
from typing import Self

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.upstream import (
    arithmetic,
    atomics,
    buffers,
    conversions,
    loops,
    views,
)
from tfrt_nb.dialects.async_.upstream.replacing import with_operations
from tfrt_nb.dialects.attribute_printer import AttributePrinter


class GlobalOp(memref.GlobalOp):
    """`memref.global "private" constant @cells : memref<2xi64> = dense<0>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_str_literal() or "public"
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, MemRefType):
            parser.raise_error(f"expected a memref type, but got '{type_}'", position)
        return cls.build(
            properties={
                "sym_name": name,
                "sym_visibility": StringAttr(visibility),
                "type": type_,
                "initial_value": _parse_initial_value(parser, type_),
                "constant": UnitAttr() if constant else None,
            },
            attributes=parser.parse_optional_attr_dict(),
        )

    def verify_(self) -> None:
        super().verify_()
        type_ = self.type
        if not isinstance(type_, MemRefType) or not type_.has_static_shape():
            raise VerifyException(f"a global buffer has sizes; '{type_}' has not")
        if not isinstance(type_.layout, NoneAttr):
            raise VerifyException(f"a global buffer is contiguous; '{type_}' has a layout")

    def print(self, printer: Printer) -> None:
        if self.sym_visibility.data != "public":
            printer.print_string(" ")
            printer.print_string_literal(self.sym_visibility.data)
        if self.constant is not None:
            printer.print_string(" constant")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        if isinstance(self.initial_value, DenseIntOrFPElementsAttr):
            printer.print_string(f" = {_elements_text(self.initial_value)}")
        printer.print_op_attributes(self.attributes)


def _parse_initial_value(parser: Parser, type_: MemRefType) -> Attribute:
    """The elements; their type goes without saying.  None for a global of another module."""
    if parser.parse_optional_punctuation("=") is None:
        return UnitAttr()
    if parser.parse_optional_keyword("uninitialized") is not None:
        return UnitAttr()
    parser.parse_keyword("dense")
    element = type_.element_type
    if not isinstance(element, IntegerType | IndexType | AnyFloat):
        parser.raise_error(f"a global buffer cannot hold '{element}'")
    return parser.parse_dense_int_or_fp_elements_attr(TensorType(element, type_.get_shape()))


def _elements_text(elements: DenseIntOrFPElementsAttr) -> str:
    """`dense<...>` without the type that follows it."""
    stream = StringIO()
    AttributePrinter(stream).print_attribute(elements)
    text, _, _ = stream.getvalue().rpartition(" : ")
    return text


Arith = with_operations(
    arith.Arith,
    (
        arithmetic.CmpfOp,
        arithmetic.CmpiOp,
        *conversions.OPERATIONS.values(),
    ),
    (arithmetic.RemFOp, conversions.OPERATIONS["index_castui"]),
    without=(arith.AddUIExtendedOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp),
)
Cf = with_operations(cf.Cf, (arithmetic.SwitchOp,))
Scf = with_operations(scf.Scf, loops.OPERATIONS)
MemRef = with_operations(
    memref.MemRef,
    (GlobalOp, *atomics.OPERATIONS, *buffers.OPERATIONS, *views.OPERATIONS),
    atomics.MORE_OPERATIONS,
    without=(
        *(memref.AllocaScopeOp, memref.AllocaScopeReturnOp, memref.ViewOp),
        *(memref.CollapseShapeOp, memref.ExpandShapeOp, memref.ReinterpretCastOp),
    ),
)
