"""The parts of `arith` for which xDSL's definition differs from MLIR's.

The module adds operations that xDSL lacks, and checks predicates and conversions. An error about a
conversion names both types. The module also has the atomic operations on buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    AnyFloatConstr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import with_operations
from tfrt_nb.dialects.types import print_parts


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division rounded toward zero, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


class CmpiOp(arith.CmpiOp):
    """Compares integers: `arith.cmpi slt, %a, %b : i64`.

    The predicate must exist, even in the generic form, which writes it as a number.
    """

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPI_COMPARISON_OPERATIONS)


class CmpfOp(arith.CmpfOp):
    """Compares floats: `arith.cmpf olt, %a, %b : f64`.

    The predicate must exist, even in the generic form, which writes it as a number.
    """

    def verify_(self) -> None:
        super().verify_()
        _require_predicate(self.predicate, arith.CMPF_COMPARISON_OPERATIONS)


def _require_predicate(predicate: IntegerAttr, names: Sequence[str]) -> None:
    if not 0 <= predicate.value.data < len(names):
        cases = ", ".join(map(str, range(len(names))))
        raise VerifyException(
            "attribute 'predicate' failed to satisfy constraint: allowed 64-bit signless integer "
            f"cases: {cases}"
        )


_INTEGER = BaseAttr(IntegerType)
_INTEGER_OR_INDEX = BaseAttr(IntegerType) | BaseAttr(IndexType)
_FLOAT = AnyFloatConstr

Fits = Callable[[Attribute, Attribute], bool]
"""A function that returns whether one type of number can be converted to another."""


class _ConversionOp(IRDLOperation):
    FITS: ClassVar[Fits]

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if not type(self).FITS(source, target):
            raise VerifyException(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _bits(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType | AnyFloat)
    return type_.bitwidth


def _widens(source: Attribute, target: Attribute) -> bool:
    return _bits(source) < _bits(target)


def _narrows(source: Attribute, target: Attribute) -> bool:
    return _bits(source) > _bits(target)


def _is_of_index(source: Attribute, target: Attribute) -> bool:
    return isinstance(source, IndexType) != isinstance(target, IndexType)


def _any(source: Attribute, target: Attribute) -> bool:
    return True


_CONVERSIONS: dict[str, tuple[AttrConstraint, AttrConstraint, Fits, str]] = {
    "extsi": (_INTEGER, _INTEGER, _widens, "More bits, by the sign."),
    "extui": (_INTEGER, _INTEGER, _widens, "More bits, by zeros."),
    "trunci": (_INTEGER, _INTEGER, _narrows, "The lower bits."),
    "extf": (_FLOAT, _FLOAT, _widens, "A float of more bits."),
    "truncf": (_FLOAT, _FLOAT, _narrows, "A float of fewer bits, rounded."),
    "sitofp": (_INTEGER, _FLOAT, _any, "A signed integer as a float."),
    "uitofp": (_INTEGER, _FLOAT, _any, "An unsigned integer as a float."),
    "fptosi": (_FLOAT, _INTEGER, _any, "A float as a signed integer, rounded toward zero."),
    "fptoui": (_FLOAT, _INTEGER, _any, "A float as an unsigned integer, rounded toward zero."),
    "index_cast": (
        _INTEGER_OR_INDEX,
        _INTEGER_OR_INDEX,
        _is_of_index,
        "Between an index and an integer, which is extended by its sign.",
    ),
    "index_castui": (
        _INTEGER_OR_INDEX,
        _INTEGER_OR_INDEX,
        _is_of_index,
        "Between an index and an integer, which is extended by zeros.",
    ),
}
"""For each conversion: the source types, the target types, which pairs fit, and a description."""


def _conversion(name: str) -> type[Operation]:
    source, target, fits, text = _CONVERSIONS[name]
    members = {
        "name": f"arith.{name}",
        "__doc__": text,
        "FITS": staticmethod(fits),
        "input": operand_def(source),
        "result": result_def(target),
    }
    return irdl_op_definition(type(f"Arith_{name}_Op", (_ConversionOp,), members))


class BitcastOp(arith.BitcastOp):
    """Reinterprets the bits of a value as another type of the same width."""

    def verify_(self) -> None:
        if any(isinstance(one.type, IndexType) for one in (self.input, self.result)):
            # XDSL allows this, but MLIR does not.
            raise VerifyException("an index has no fixed width")
        super().verify_()


_CONVERSION_OPERATIONS = {name: _conversion(name) for name in _CONVERSIONS}

Arith = with_operations(
    arith.Arith,
    (CmpfOp, CmpiOp, BitcastOp, *_CONVERSION_OPERATIONS.values()),
    (RemFOp, _CONVERSION_OPERATIONS["index_castui"]),
    without=(arith.AddUIExtendedOp, arith.MulSIExtendedOp, arith.MulUIExtendedOp),
)


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
"""The kinds of `memref.atomic_rmw`, each at the position of its number in MLIR."""


class AtomicRMWOp(memref.AtomicRMWOp):
    """Atomically updates an element.

    The form is `memref.atomic_rmw addi %v, %m[%i] : (i64, memref<4xi64>) -> i64`.
    """

    @property
    def operation(self) -> str:
        """Return the name of the operation that combines the old element with the operand."""
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
            raise VerifyException("failed to verify that value type matches element type of memref")
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
    """Atomically updates an element: `memref.generic_atomic_rmw %m[%i] : memref<4xf32> { ... }`.

    The region takes the current element and computes the new one. It may run several times.
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
        # `walk` also visits the regions that `_is_pure` ignores.
        for nested in self.body.walk():
            if not isinstance(nested, AtomicYieldOp) and not _is_pure(nested):
                raise VerifyException(
                    "should contain only operations with no side effects in its body"
                )


def _is_pure(op: Operation) -> bool:
    """Return whether an operation only computes. Its regions are not considered."""
    dialect = op.name.partition(".")[0]
    is_choice = op.name in ("scf.if", "scf.index_switch", "scf.yield")
    return dialect in ("arith", "math") or is_choice or op.has_trait(Pure)


@irdl_op_definition
class AtomicYieldOp(IRDLOperation):
    """Yields the new element: `memref.atomic_yield %x : f32`."""

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
