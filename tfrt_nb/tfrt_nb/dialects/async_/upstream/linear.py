"""`linalg`: the operations on buffers that can be compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, StringAttr, TensorType
from xdsl.dialects.linalg import Linalg as known
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import with_operations
from tfrt_nb.dialects.types import parse_types

# xDSL accepts integers and floats for the next two operations, but not indices.


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


class MatmulOp(ops.MatmulOp):
    """`linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)`."""

    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        if len({*_element_types([*inputs, *outputs])}) > 1:
            # xDSL would build a region that adds numbers of different types.
            raise VerifyException(
                "elements of different types cannot be multiplied: write a 'linalg.generic', whose"
                " region converts them"
            )
        return super().get_hidden_region(inputs, outputs)


def _element_types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [_element_type(value.type) for value in values]


def _element_type(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, MemRefType | TensorType) else type_


class GenericOp(ops.GenericOp):
    """Any structured operation.

    The form is `linalg.generic {indexing_maps = ..., iterator_types = ...} ins(...) outs(...) { ...
    }`. The attributes in braces may be an alias.
    """

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        trait = parser.parse_attribute()
        if not isinstance(trait, DictionaryAttr):
            parser.raise_error("expected the attributes of 'linalg.generic'", position)
        attributes = dict(trait.data)
        maps, kinds = attributes.pop("indexing_maps", None), attributes.pop("iterator_types", None)
        if not isinstance(maps, ArrayAttr) or not isinstance(kinds, ArrayAttr):
            parser.raise_error("expected 'indexing_maps' and 'iterator_types'", position)
        inputs, outputs = _parse_operands(parser, "ins"), _parse_operands(parser, "outs")
        more: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attrs") is not None:
            parser.parse_punctuation("=")
            more = parser.parse_optional_attr_dict()
        body = parser.parse_region()
        types = parse_types(parser) if parser.parse_optional_punctuation("->") else []
        attributes["indexing_maps"] = maps
        attributes["iterator_types"] = _kinds(parser, kinds, position)
        return cls.build(
            operands=[inputs, outputs],
            result_types=[types],
            properties=attributes,
            attributes=more,
            regions=[body],
        )


def _parse_operands(parser: Parser, word: str) -> list[SSAValue]:
    """Parse `ins(%a, %b : T, U)`, or nothing."""
    if parser.parse_optional_keyword(word) is None:
        return []
    with parser.in_parens():
        position = parser.pos
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return list(parser.resolve_operands(unresolved, types, position))


def _kinds(parser: Parser, kinds: ArrayAttr, position: int) -> ArrayAttr:
    """Return the kinds of the loops, which the program writes as strings."""
    known = {kind.value: IteratorTypeAttr(kind) for kind in IteratorType}
    found: list[Attribute] = []
    for kind in kinds:
        word = kind.data if isinstance(kind, StringAttr) else ""
        if not isinstance(kind, IteratorTypeAttr) and word not in known:
            parser.raise_error(f"{kind} is not one of {', '.join(known)}", position)
        found.append(known.get(word, kind))
    return ArrayAttr(found)


class YieldOp(ops.YieldOp):
    """Yields one element of each result: `linalg.yield %x : f32`."""

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
                    f"type of yield operand {number + 1} ('{value.type}') doesn't match the "
                    f"element type of the enclosing linalg.generic op ('{element}')"
                )


Linalg = with_operations(
    known, (FillOp, CopyOp, MatmulOp, GenericOp, YieldOp), without=[ops.IndexOp]
)
