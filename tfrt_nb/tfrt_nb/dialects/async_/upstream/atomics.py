"""Operations on buffers that other threads see as one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    region_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.assembly import print_parts

_KINDS = [
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
"""The kinds of `memref.atomic_rmw`, in the order of MLIR's numbers."""


class AtomicRMWOp(memref.AtomicRMWOp):
    """`memref.atomic_rmw addi %v, %m[%i] : (i64, memref<4xi64>) -> i64`."""

    @property
    def operation(self) -> str:
        """Return the operation on the old value and the operand."""
        return _KINDS[self.kind.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        word = parser.parse_identifier()
        if word not in _KINDS:
            parser.raise_error(f"expected one of {', '.join(_KINDS)}", position)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        given = parser.resolve_operands([value, buffer], type_.inputs.data, position)
        return cls.build(
            operands=[*given, _resolved(parser, indices)],
            result_types=type_.outputs.data,
            properties={"kind": IntegerAttr(_KINDS.index(word), i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        element = (self.memref, "[", self.indices, "]")
        print_parts(printer, f" {self.operation} ", self.value, ", ", *element)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([self.value.type, self.memref.type], [self.result.type])

    def verify_(self) -> None:
        buffer = self.memref.type
        if isinstance(buffer, MemRefType) and buffer.element_type != self.value.type:
            text = "failed to verify that value type matches element type of memref"
            raise VerifyException(text)
        self.get_irdl_definition().verify(self)
        if not 0 <= self.kind.value.data < len(_KINDS):
            raise VerifyException("attribute 'kind' is not one of the known operations")
        _verify_indices(self, self.memref, self.indices)
        if self.operation == "assign":
            return
        is_of_floats = self.operation.endswith("f")
        expected = "a floating-point" if is_of_floats else "an integer"
        if not isinstance(self.value.type, AnyFloat if is_of_floats else IntegerType):
            raise VerifyException(f"with kind '{self.operation}' expects {expected} type")


@irdl_op_definition
class GenericAtomicRMWOp(IRDLOperation):
    """`memref.generic_atomic_rmw %m[%i] : memref<4xf32> { ^bb0(%now: f32): ... }`.

    The region computes the new element from the current one, possibly several times.
    """

    name = "memref.generic_atomic_rmw"
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    result = result_def(AnyAttr())
    body = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        buffer = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, MemRefType):
            parser.raise_error(f"expected a memref type, but got '{type_}'", position)
        operand, positions = parser.resolve_operand(buffer, type_), _resolved(parser, indices)
        body = parser.parse_region()
        return cls.build(
            operands=[operand, positions],
            result_types=[type_.element_type],
            regions=[body],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        element = (self.memref, "[", self.indices, "]")
        print_parts(printer, " ", *element, " : ", self.memref.type, " ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        _verify_indices(self, self.memref, self.indices)
        if len(self.body.blocks) != 1 or len(self.body.block.args) != 1:
            raise VerifyException("expected single number of entry block arguments")
        assert isinstance(self.memref.type, MemRefType)
        element = self.memref.type.element_type
        if self.body.block.args[0].type != self.result.type or self.result.type != element:
            raise VerifyException("expected block argument of the same type result type")
        if not isinstance(self.body.block.last_op, AtomicYieldOp):
            raise VerifyException("expects its region to terminate with 'memref.atomic_yield'")
        for nested in self.body.walk():
            if not isinstance(nested, AtomicYieldOp) and not _is_pure(nested):
                raise VerifyException(
                    "should contain only operations with no side effects in its body"
                )


def _is_pure(op: Operation) -> bool:
    """Return whether an operation itself only computes.

    Nested operations are checked separately.
    """
    dialect = op.name.partition(".")[0]
    is_choice = op.name in ("scf.if", "scf.index_switch", "scf.yield")
    return dialect in ("arith", "math") or is_choice or op.has_trait(Pure)


@irdl_op_definition
class AtomicYieldOp(IRDLOperation):
    """`memref.atomic_yield %x : f32`: the new element."""

    name = "memref.atomic_yield"
    result = operand_def(AnyAttr())

    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(GenericAtomicRMWOp)))

    assembly_format = "$result attr-dict `:` type($result)"

    def verify_(self) -> None:
        parent = self.parent_op()
        assert isinstance(parent, GenericAtomicRMWOp)
        if self.result.type != parent.result.type:
            raise VerifyException(
                f"types mismatch between yield op: '{self.result.type}' and its parent: "
                f"'{parent.result.type}'"
            )


def _verify_indices(op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    assert isinstance(buffer.type, MemRefType)
    if len(indices) != len(buffer.type.get_shape()):
        raise VerifyException("expects the number of subscripts to be equal to memref rank")


def _parse_indices(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def _resolved(parser: Parser, indices: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    return [parser.resolve_operand(index, IndexType()) for index in indices]
