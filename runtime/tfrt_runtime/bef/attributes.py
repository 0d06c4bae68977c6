"""Convert attributes between values and bytes (`write_attribute`, `AttributeReader`).

An attribute is referred to by its offset in the attributes section.  Its kind is not stored with
it, so the reader must know the kind.  All layouts are little-endian:

* a scalar or a type: the value itself (a type is one byte, its `DType`)
* a string: u32 length, the bytes
* an array: u32 count, the elements
* an empty array of any type, and a shape of unknown rank: u32 0
* a shape, dense elements, or an aggregate: a header, followed by
  - shape: u32 rank, i64 sizes (-1 is unknown)
  - dense: u32 offset of the data, u32 element count, u32 rank, i64 sizes, the data
  - aggregate: u32 count, u32 offset of each element from the header, the elements
* a symbol in a compiled module: VBR length of the root name, VBR count and lengths of the nested
  names, VBR length of the module's source text, all these strings, a NUL

The header is u8 alignment, u8 dtype, u16 size of everything before the aligned part, and u32 size
of the whole attribute, both in bytes.  The alignment applies to the data: a header is placed so
that the part after it is aligned.  In an aggregate, the byte before each element is its kind.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, prod

from tfrt_runtime.bef.records import (
    ARRAY_FLAG,
    EMPTY_ARRAY,
    MAX_AGGREGATES,
    AttributeKind,
    DType,
)
from tfrt_runtime.bef.wire import ByteBuilder, Cursor, bytes_of

_PROBLEM = "invalid Attributes section in BEF file"
_HEADER = struct.Struct("<BBHI")
_U32 = struct.Struct("<I")
_BLOCK_ALIGNMENT = 8
Number = bool | int | float

# The struct codes of the types whose values are Python numbers; a bfloat16 is the upper half of a
# float.
FORMATS: dict[int, str] = {
    DType.UI8: "B",
    DType.UI16: "H",
    DType.UI32: "I",
    DType.UI64: "Q",
    DType.I1: "?",
    DType.I8: "b",
    DType.I16: "h",
    DType.I32: "i",
    DType.I64: "q",
    DType.F16: "e",
    DType.F32: "f",
    DType.F64: "d",
    DType.BF16: "H",
}

# Bytes per element of each type that has a fixed size.
SIZES: dict[int, int] = {dtype: struct.calcsize(code) for dtype, code in FORMATS.items()} | {
    DType.COMPLEX64: 8,
    DType.COMPLEX128: 16,
    DType.QUI8: 1,
    DType.QUI16: 2,
    DType.QI8: 1,
    DType.QI16: 2,
    DType.QI32: 4,
}


def pack(dtype: DType, values: tuple[Number, ...]) -> bytes:
    """Return the bytes of `values`, one after another.

    A float beyond the range of `dtype` becomes an infinity.
    """
    if dtype is DType.BF16:
        return struct.pack(f"<{len(values)}H", *map(_to_bfloat16, values))
    code = f"<{len(values)}{FORMATS[dtype]}"
    try:
        return struct.pack(code, *values)
    except OverflowError:
        return struct.pack(code, *(_bounded(dtype, value) for value in values))


def _bounded(dtype: DType, value: Number) -> Number:
    try:
        struct.pack(f"<{FORMATS[dtype]}", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _to_bfloat16(value: Number) -> int:
    bits: int = struct.unpack("<I", pack(DType.F32, (value,)))[0]
    if isnan(value):
        return bits >> 16 | 0x40  # a NaN must stay a NaN when its lower half is cut off
    # Round to nearest, ties to even.
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def unpack(dtype: int, data: bytes | memoryview) -> tuple[Number, ...]:
    """Return the numbers in `data`.

    The size of `data` must be a multiple of a number's size.
    """
    count = len(data) // SIZES[dtype]
    values = struct.unpack(f"<{count}{FORMATS[dtype]}", data)
    if dtype != DType.BF16:
        return values
    return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(bits << 16 for bits in values)))


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number as an attribute, with the type in which the file stores it.

    An integer must be in the range of `dtype`.  A float is rounded to `dtype` when it is written.
    """

    dtype: DType
    value: Number


@dataclass(frozen=True, slots=True)
class TypeValue:
    """An attribute whose value is a type, such as `i32`."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class String:
    """A string, stored as UTF-8.  Bytes that are not valid UTF-8 are kept as lone surrogates."""

    text: str


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers of the same type.  The empty array has no element type; its `dtype` is I32."""

    dtype: DType
    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class TypeArray:
    """An attribute whose value is an array of one or more types."""

    dtypes: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor shape as an attribute.  A size of -1 means that the size is unknown.

    `sizes` is None if even the rank is unknown.
    """

    sizes: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense tensor; `data` contains the elements in row-major order.  An i1 takes one byte."""

    dtype: DType
    sizes: tuple[int, ...]
    data: bytes | memoryview


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Attributes of different kinds, or of kinds without a fixed size."""

    elements: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function in a compiled module, with the source text of that module."""

    root: str
    nested: tuple[str, ...]
    module_text: str


Attribute = Scalar | TypeValue | String | Array | TypeArray | Shape | Dense | Aggregate | Symbol


def array_of(elements: Sequence[Attribute]) -> Attribute:
    """Return an array of the elements, or an aggregate if no array can contain them.

    An array contains numbers of one type, contains types, or is empty.
    """
    scalars = [element for element in elements if isinstance(element, Scalar)]
    types = [element.dtype for element in elements if isinstance(element, TypeValue)]
    if not elements:
        return Array(DType.I32, ())
    if len(scalars) == len(elements) and len({scalar.dtype for scalar in scalars}) == 1:
        return Array(scalars[0].dtype, tuple([scalar.value for scalar in scalars]))
    if len(types) == len(elements):
        return TypeArray(tuple(types))
    return Aggregate(tuple(elements))


# An attribute in the form that a kernel sees: arrays, shapes, and aggregates are tuples.
Plain = Number | str | None | DType | Dense | Symbol | tuple["Plain", ...]


def kind_of(attribute: Attribute) -> int:
    """Return the attribute's kind, as the attribute types section and aggregates store it."""
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
    """Return the value that a kernel receives for an attribute.

    It is a plain Python value if possible.
    """
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


# --- as bytes ---


def write_attribute(out: ByteBuilder, attribute: Attribute) -> int:
    """Append `attribute` to `out`, and return its offset."""
    alignment, prefix = _layout(attribute)
    out.align(alignment, prefix)
    offset = len(out)
    _write_body(out, attribute)
    return offset


def _layout(attribute: Attribute) -> tuple[int, int]:
    """Return the alignment of the attribute's data, and the number of bytes before the data."""
    match attribute:
        case Scalar(dtype, _):
            return SIZES[dtype], 0
        case TypeValue() | Symbol():
            return 1, 0
        case Array(dtype, values) if values:
            return max(4, SIZES[dtype]), 4
        case Shape(sizes) if sizes is not None:
            return _BLOCK_ALIGNMENT, 12
        case Dense(_, sizes, _):
            return _BLOCK_ALIGNMENT, 20 + 8 * len(sizes)
        case Aggregate(elements):
            alignment = max(4, *map(_alignment_in_aggregate, elements))
            return alignment, 12 + 4 * len(elements)
    return 4, 0  # the bytes start with a count


def _alignment_in_aggregate(attribute: Attribute) -> int:
    """Return the alignment that an aggregate assumes for an element.

    For an array, this is the largest possible alignment.
    """
    match attribute:
        case Scalar() | TypeValue() | String():
            return _layout(attribute)[0]
    return _BLOCK_ALIGNMENT


def _write_body(out: ByteBuilder, attribute: Attribute) -> None:
    data = out.data
    match attribute:
        case Scalar(dtype, value):
            data += pack(dtype, (value,))
        case TypeValue(dtype):
            out.byte(dtype)
        case String(text):
            encoded = bytes_of(text)
            data += _U32.pack(len(encoded)) + encoded
        case Array(dtype, values):
            data += _U32.pack(len(values)) + pack(dtype, values)
        case TypeArray(dtypes):
            data += _U32.pack(len(dtypes)) + bytes(dtypes)
        case Shape(None):
            data += _U32.pack(0)
        case Shape(tuple(sizes)):
            rank = len(sizes)
            data += _HEADER.pack(_BLOCK_ALIGNMENT, 0, 12, 12 + 8 * rank)
            data += struct.pack(f"<I{rank}q", rank, *sizes)
        case Dense(dtype, sizes, elements):
            rank, start = len(sizes), 20 + 8 * len(sizes)
            data += _HEADER.pack(_BLOCK_ALIGNMENT, dtype, start, start + len(elements))
            data += struct.pack(f"<3I{rank}q", start, prod(sizes), rank, *sizes) + elements
        case Aggregate(elements):
            _write_aggregate(out, elements, *_layout(attribute))
        case Symbol(root, nested, text):
            names = [bytes_of(part) for part in (root, *nested, text)]
            lengths = list(map(len, names))
            out.varints((lengths[0], len(nested), *lengths[1:]))
            data += b"".join(names) + b"\0"


def _write_aggregate(
    out: ByteBuilder, elements: tuple[Attribute, ...], alignment: int, prefix: int
) -> None:
    start = len(out)
    out.data += bytes(prefix)  # filled in after the elements have been written
    offsets = []
    for element in elements:
        own_alignment, own_prefix = _layout(element)
        out.align(own_alignment, 1 + own_prefix)
        out.byte(kind_of(element))
        offsets.append(len(out) - start)
        _write_body(out, element)
    # The field has only 16 bits, but the reader does not use it.
    header = _HEADER.pack(alignment, 0, prefix & 0xFFFF, len(out) - start)
    table = struct.pack(f"<{1 + len(offsets)}I", len(offsets), *offsets)
    out.data[start : start + prefix] = header + table


class AttributeReader:
    """Reads attributes by their offsets.

    `data` is the whole file.  Its attributes are between `start` and `end`, and nothing outside
    that range is read.

    Raises:
        MalformedBef: from each method, if the bytes are invalid.
    """

    def __init__(self, data: memoryview, start: int, end: int) -> None:
        self._data = data
        self._start = start
        self._end = end

    def read(self, offset: int, kind: int) -> Attribute:
        """Read the attribute at `offset`.

        `kind` is a `DType`, an `AttributeKind`, or an array of one of them.
        """
        cursor = Cursor(self._data, _PROBLEM, self._start + offset, self._end)
        return _read(cursor, kind, MAX_AGGREGATES)


def _read(cursor: Cursor, kind: int, depth: int) -> Attribute:
    match kind:
        case DType.STRING:
            return String(_text(cursor.take(_read_u32(cursor))))
        case AttributeKind.TYPE:
            return TypeValue(_dtype(cursor, cursor.byte()))
        case AttributeKind.SHAPE:
            return _read_shape(cursor)
        case AttributeKind.DENSE:
            return _read_dense(cursor)
        case AttributeKind.AGGREGATE:
            return _read_aggregate(cursor, depth)
        case AttributeKind.SYMBOL_REF:
            return _read_symbol(cursor)
        case _ if kind == ARRAY_FLAG | AttributeKind.TYPE:
            return TypeArray(tuple(_dtype(cursor, one) for one in cursor.take(_read_u32(cursor))))
        case _ if kind in FORMATS:
            [value] = unpack(kind, cursor.take(SIZES[kind]))
            return Scalar(DType(kind), value)
        case _ if kind & ARRAY_FLAG and (element := kind - ARRAY_FLAG) in FORMATS:
            count = _read_u32(cursor)
            values = unpack(element, cursor.take(count * SIZES[element]))
            return Array(DType(element) if values else DType.I32, values)
    raise cursor.fail(f"unknown attribute kind {kind}")


def _dtype(cursor: Cursor, number: int) -> DType:
    try:
        return DType(number)
    except ValueError:
        raise cursor.fail(f"unknown type {number}") from None


def _read_u32(cursor: Cursor) -> int:
    value: int = _U32.unpack(cursor.take(4))[0]
    return value


def _text(data: memoryview) -> str:
    return data.tobytes().decode(errors="surrogateescape")


def _read_header(cursor: Cursor, prefix: int) -> tuple[int, int]:
    """Read the dtype and the end of an attribute, which must have at least `prefix` bytes."""
    start = cursor.offset
    _, dtype, _, size = _HEADER.unpack(cursor.take(_HEADER.size))
    if not prefix <= size <= cursor.end - start:
        raise cursor.fail(f"an attribute of {size} bytes, {cursor.end - start} left", start)
    return dtype, start + size


def _read_sizes(cursor: Cursor, rank: int) -> tuple[int, ...]:
    return struct.unpack(f"<{rank}q", cursor.take(8 * rank))


def _read_shape(cursor: Cursor) -> Shape:
    # A ranked shape starts with its alignment, which is never 0.
    start = cursor.offset
    if _read_u32(cursor) == 0:
        return Shape(None)
    cursor.offset = start
    _read_header(cursor, 12)
    return Shape(_read_sizes(cursor, _read_u32(cursor)))


def _read_dense(cursor: Cursor) -> Dense:
    start = cursor.offset
    dtype_number, end = _read_header(cursor, 20)
    dtype = _dtype(cursor, dtype_number)
    data_offset, count, rank = struct.unpack("<3I", cursor.take(12))
    sizes = _read_sizes(cursor, rank)
    if dtype not in SIZES:
        raise cursor.fail(f"dense elements of type {dtype.name}", start)
    size = count * SIZES[dtype]
    if start + data_offset < cursor.offset or start + data_offset + size != end:
        raise cursor.fail(f"{count} elements do not fill the attribute", start)
    if not _is_product(count, sizes):
        raise cursor.fail(f"{count} elements for the sizes {list(sizes)}", start)
    cursor.offset = start + data_offset
    return Dense(dtype, sizes, cursor.take(size))


def _is_product(count: int, sizes: tuple[int, ...]) -> bool:
    # Multiply step by step, because the product of malicious sizes could have megabytes of digits.
    product = 0 if 0 in sizes else 1
    for size in sizes:
        product *= size
        if not 0 <= product <= count:
            return False
    return product == count


def _read_aggregate(cursor: Cursor, depth: int) -> Aggregate:
    if depth == 0:
        raise cursor.fail(f"aggregates nest more than {MAX_AGGREGATES} deep")
    start = cursor.offset
    _, end = _read_header(cursor, 12)
    count = _read_u32(cursor)
    offsets = struct.unpack(f"<{count}I", cursor.take(4 * count))
    inside = Cursor(cursor.data, cursor.problem, cursor.offset, end)
    elements = []
    for offset in offsets:
        place = start + offset
        # Elements must be in order and disjoint, so that the work is bounded by the size of the
        # file.
        if not inside.offset < place <= end:
            raise inside.fail(f"an element at byte {place}, expected between here and {end}")
        inside.offset = place - 1
        elements.append(_read(inside, inside.byte(), depth - 1))
    cursor.offset = end
    return Aggregate(tuple(elements))


def _read_symbol(cursor: Cursor) -> Symbol:
    root_length, nested_count = cursor.varints(2)
    *nested_lengths, text_length = cursor.varints(nested_count + 1)
    root = _text(cursor.take(root_length))
    nested = tuple(_text(cursor.take(length)) for length in nested_lengths)
    return Symbol(root, nested, _text(cursor.take(text_length)))
