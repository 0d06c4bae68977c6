"""The upstream dialects that async programs are written in, with MLIR's syntax where xDSL has none.

xDSL defines `scf.parallel`, `memref.cast` and `memref.global` but reads them in generic form only.
The classes here are the same operations with the custom form added.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Self

from xdsl.dialects import arith, cf, func, math, memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    Builtin,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


class ParallelOp(scf.ParallelOp):
    """`scf.parallel (%i) = (%lo) to (%hi) step (%st) init (%a) -> T { ... }`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _parse_indices(parser)
        parser.parse_keyword("to")
        upper = _parse_indices(parser)
        parser.parse_keyword("step")
        steps = _parse_indices(parser)
        initial = _parse_initial_values(parser)
        body = parser.parse_region([index.resolve(IndexType()) for index in indices])
        if not isinstance(body.block.last_op, scf.ReduceOp):
            body.block.add_op(scf.ReduceOp())
        op = cls(lower, upper, steps, body, initial)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_values(printer, self.body.block.args)
        for word, values in (("=", self.lowerBound), ("to", self.upperBound), ("step", self.step)):
            printer.print_string(f" {word} ")
            _print_values(printer, values)
        if self.initVals:
            printer.print_string(" init ")
            _print_values(printer, self.initVals)
            printer.print_string(" -> ")
            _print_types(printer, self.res.types)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_block_terminators=bool(self.initVals)
        )
        printer.print_op_attributes(self.attributes)


def _parse_indices(parser: Parser) -> list[SSAValue]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN,
        lambda: parser.resolve_operand(parser.parse_unresolved_operand(), IndexType()),
    )


def _parse_initial_values(parser: Parser) -> Sequence[SSAValue]:
    if parser.parse_optional_keyword("init") is None:
        return ()
    position = parser.pos
    values = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_punctuation("->")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return parser.resolve_operands(
        values, [parser.parse_type()] if types is None else types, position
    )


def _print_values(printer: Printer, values: Sequence[SSAValue]) -> None:
    with printer.in_parens():
        printer.print_list(values, printer.print_ssa_value)


def _print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    if len(types) == 1:
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


class CastOp(memref.CastOp):
    """`memref.cast %m : memref<4xf32> to memref<?xf32>`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_keyword("to")
        position = parser.pos
        target = parser.parse_type()
        if not isinstance(target, MemRefType | UnrankedMemRefType):
            parser.raise_error(f"expected a memref type, but got '{target}'", position)
        return cls.build(operands=[source], result_types=[target], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.dest.type)


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
    """`dense<...>` without the type that follows it."""
    stream = StringIO()
    Printer(stream).print_attribute(elements)
    text, _, _ = stream.getvalue().rpartition(" : ")
    return text


def _with(
    dialect: Dialect, *replacements: type[memref.CastOp | memref.GlobalOp | ParallelOp]
) -> Dialect:
    """The dialect with some operations replaced by others of the same name."""
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations]
    return Dialect(dialect.name, operations, list(dialect.attributes))


Scf = _with(scf.Scf, ParallelOp)
MemRef = _with(memref.MemRef, CastOp, GlobalOp)

COMPANIONS = (Builtin, arith.Arith, cf.Cf, func.Func, math.Math, MemRef, Scf, vector.Vector)
"""What to load beside `Async` to read an async program."""
