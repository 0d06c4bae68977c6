"""The upstream dialects that async programs are written in, with MLIR's syntax where xDSL has none.

xDSL defines `memref.cast`, `memref.global` and others but reads them in generic form only.  The classes
here, in `arithmetic`, `buffers` and `loops` are the same operations with the custom form added, and those
that xDSL lacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import Self

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from tfrt_nb.dialects.async_ import arithmetic, buffers, forall, loops


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
    """`dense<...>` without the type that follows it, infinities in MLIR's capital digits."""
    stream = StringIO()
    Printer(stream).print_attribute(elements)
    text, _, _ = stream.getvalue().rpartition(" : ")
    return re.sub("0x[0-9a-f]+", lambda bits: f"0x{bits[0][2:].upper()}", text)


_ATOMIC_KINDS = [
    "addf",
    "addi",
    "assign",
    "maximumf",
    "maxs",
    "maxu",
    "minimumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "andi",
    "maxnumf",
    "minnumf",
    "xori",
]
"""What `memref.atomic_rmw` can do, by MLIR's numbers."""


class AtomicRMWOp(memref.AtomicRMWOp):
    """`memref.atomic_rmw addi %v, %m[%i] : (i64, memref<4xi64>) -> i64`."""

    @property
    def operation(self) -> str:
        """What is done with the old value and the operand."""
        return _ATOMIC_KINDS[self.kind.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        word = parser.parse_identifier()
        if word not in _ATOMIC_KINDS:
            parser.raise_error(f"expected one of {', '.join(_ATOMIC_KINDS)}", position)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        given = parser.resolve_operands([value, buffer], type_.inputs.data, position)
        return cls.build(
            operands=[*given, [parser.resolve_operand(index, IndexType()) for index in indices]],
            result_types=type_.outputs.data,
            properties={"kind": IntegerAttr(_ATOMIC_KINDS.index(word), i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.operation} ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([self.value.type, self.memref.type], [self.result.type])


def _with(
    dialect: Dialect, replacements: Sequence[type[Operation]], more: Sequence[type[Operation]] = ()
) -> Dialect:
    """The dialect with some operations replaced by others of the same name, and some more."""
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations]
    return Dialect(dialect.name, [*operations, *more], list(dialect.attributes))


Arith = _with(
    arith.Arith,
    (arithmetic.AddUIExtendedOp,),
    (arithmetic.RemFOp, arithmetic.IndexCastUIOp),
)
Cf = _with(cf.Cf, (arithmetic.SwitchOp,))
Scf = _with(scf.Scf, loops.OPERATIONS, forall.OPERATIONS)
MemRef = _with(memref.MemRef, (GlobalOp, AtomicRMWOp, *buffers.OPERATIONS), buffers.MORE_OPERATIONS)
