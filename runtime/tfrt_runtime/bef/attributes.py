"""Attributes as values.

An attribute is referred to by its offset in the attributes section; what it is (its kind) is not
stored with it, so the reader must know it.  `attribute_bytes` has the layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfrt_runtime.bef.encoding import ARRAY_FLAG, EMPTY_ARRAY, AttributeKind, DType
from tfrt_runtime.bef.numbers import Number


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number.  Integers are within the range of `dtype`; floats are rounded to it when written."""

    dtype: DType
    value: Number


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class String:
    """A text, as UTF-8; bytes that are not UTF-8 survive as lone surrogates."""

    text: str


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers of one type.  The empty array has no type: `dtype` is I32 then."""

    dtype: DType
    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class TypeArray:
    """Types, at least one."""

    dtypes: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a tensor, -1 where unknown; None if not even their number is known."""

    sizes: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Dense:
    """The elements of a tensor, row by row.  An i1 takes a byte."""

    dtype: DType
    sizes: tuple[int, ...]
    data: bytes | memoryview


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Attributes of different kinds, or that are not of a fixed size."""

    elements: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function in a compiled module, and the text of that module."""

    root: str
    nested: tuple[str, ...]
    module_text: str


Attribute = Scalar | TypeValue | String | Array | TypeArray | Shape | Dense | Aggregate | Symbol


def array_of(elements: Sequence[Attribute]) -> Attribute:
    """Numbers of one type, types, and nothing at all are arrays; all else is an aggregate."""
    scalars = [element for element in elements if isinstance(element, Scalar)]
    types = [element.dtype for element in elements if isinstance(element, TypeValue)]
    if not elements:
        return Array(DType.I32, ())
    if len(scalars) == len(elements) and len({scalar.dtype for scalar in scalars}) == 1:
        return Array(scalars[0].dtype, tuple([scalar.value for scalar in scalars]))
    if len(types) == len(elements):
        return TypeArray(tuple(types))
    return Aggregate(tuple(elements))


# An attribute as a kernel sees it: tuples for arrays, shapes and aggregates.
Plain = Number | str | None | DType | Dense | Symbol | tuple["Plain", ...]


def kind_of(attribute: Attribute) -> int:
    """The number that the attribute types section and aggregates have for it."""
    match attribute:
        case Scalar(dtype, _):
            return dtype
        case Array(_, ()):
            return EMPTY_ARRAY
        case Array(dtype, _):
            return ARRAY_FLAG | dtype
        case TypeArray():
            return ARRAY_FLAG | AttributeKind.TYPE
        case _:
            return _KINDS[type(attribute)]


_KINDS: dict[type[Attribute], int] = {
    TypeValue: AttributeKind.TYPE,
    String: DType.STRING,
    Shape: AttributeKind.SHAPE,
    Dense: AttributeKind.DENSE,
    Aggregate: AttributeKind.AGGREGATE,
    Symbol: AttributeKind.SYMBOL_REF,
}


def to_plain(attribute: Attribute) -> Plain:
    """What a kernel gets to see: Python's own types as far as they go."""
    match attribute:
        case Scalar(_, value):
            return value
        case TypeValue(dtype):
            return dtype
        case String(text):
            return text
        case Array(_, values):
            return values
        case TypeArray(dtypes):
            return dtypes
        case Shape(sizes):
            return sizes
        case Aggregate(elements):
            return tuple(map(to_plain, elements))
        case Dense() | Symbol():
            return attribute
