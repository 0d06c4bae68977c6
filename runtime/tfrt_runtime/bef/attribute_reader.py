"""Bytes to attributes; the layouts are those of `attribute_writer`."""

from __future__ import annotations

import struct

from tfrt_runtime.bef import numbers
from tfrt_runtime.bef.attributes import (
    Aggregate,
    Array,
    Attribute,
    Dense,
    Plain,
    Scalar,
    Shape,
    String,
    Symbol,
    TypeArray,
    TypeValue,
    to_plain,
)
from tfrt_runtime.bef.encoding import ARRAY_FLAG, MAX_AGGREGATES, AttributeKind, DType
from tfrt_runtime.bef.numbers import Number
from tfrt_runtime.bef.wire import Cursor

_PROBLEM = "invalid Attributes section in BEF file"

_HEADER = struct.Struct("<BBHI")
_U32 = struct.Struct("<I")


class AttributeReader:
    """Attributes by their offset.  What does not fit raises `MalformedBef`.

    `data` is the whole file, `start` and `end` where its attributes are; nothing outside is read.
    """

    def __init__(self, data: memoryview, start: int, end: int) -> None:
        self._data = data
        self._start = start
        self._end = end

    def read(self, offset: int, kind: int) -> Attribute:
        """The attribute of `kind` (a `DType`, an `AttributeKind` or an array of one)."""
        return _read(self._cursor(offset), kind, MAX_AGGREGATES)

    def read_scalar(self, offset: int, dtype: DType) -> Number:
        return _read_scalar(self._cursor(offset), dtype)

    def read_type(self, offset: int) -> DType:
        return _read_type(self._cursor(offset))

    def read_string(self, offset: int) -> str:
        return _read_string(self._cursor(offset))

    def read_array(self, offset: int, dtype: DType) -> tuple[Number, ...]:
        """An array of numbers.  An empty array is one of any type."""
        return _read_array(self._cursor(offset), dtype).values

    def read_type_array(self, offset: int) -> tuple[DType, ...]:
        return _read_type_array(self._cursor(offset))

    def read_shape(self, offset: int) -> tuple[int, ...] | None:
        """The sizes, -1 where unknown; None if not even their number is known."""
        return _read_shape(self._cursor(offset))

    def read_dense(self, offset: int) -> Dense:
        """The elements as a view into the file."""
        return _read_dense(self._cursor(offset))

    def read_aggregate(self, offset: int) -> tuple[Plain, ...]:
        """The elements as plain values, aggregates in it as tuples of such."""
        elements = _read_aggregate(self._cursor(offset), MAX_AGGREGATES)
        return tuple(map(to_plain, elements))

    def read_symbol(self, offset: int) -> Symbol:
        return _read_symbol(self._cursor(offset))

    def _cursor(self, offset: int) -> Cursor:
        return Cursor(self._data, _PROBLEM, self._start + offset, self._end)


def _read(cursor: Cursor, kind: int, depth: int) -> Attribute:
    match kind:
        case DType.STRING:
            return String(_read_string(cursor))
        case AttributeKind.TYPE:
            return TypeValue(_read_type(cursor))
        case AttributeKind.SHAPE:
            return Shape(_read_shape(cursor))
        case AttributeKind.DENSE:
            return _read_dense(cursor)
        case AttributeKind.AGGREGATE:
            return Aggregate(_read_aggregate(cursor, depth))
        case AttributeKind.SYMBOL_REF:
            return _read_symbol(cursor)
        case _ if kind == ARRAY_FLAG | AttributeKind.TYPE:
            return TypeArray(_read_type_array(cursor))
        case _ if kind in numbers.FORMATS:
            return Scalar(DType(kind), _read_scalar(cursor, DType(kind)))
        case _ if kind & ARRAY_FLAG and kind - ARRAY_FLAG in numbers.FORMATS:
            return _read_array(cursor, DType(kind - ARRAY_FLAG))
    raise cursor.fail(f"unknown attribute kind {kind}")


def _read_scalar(cursor: Cursor, dtype: DType) -> Number:
    return numbers.unpack(dtype, cursor.take(numbers.SIZES[dtype]))[0]


def _read_type(cursor: Cursor) -> DType:
    return _dtype(cursor, cursor.byte())


def _dtype(cursor: Cursor, number: int) -> DType:
    try:
        return DType(number)
    except ValueError:
        raise cursor.fail(f"unknown type {number}") from None


def _read_u32(cursor: Cursor) -> int:
    value: int = _U32.unpack(cursor.take(4))[0]
    return value


def _read_string(cursor: Cursor) -> str:
    return _text(cursor.take(_read_u32(cursor)))


def _text(data: memoryview) -> str:
    return data.tobytes().decode(errors="surrogateescape")


def _read_array(cursor: Cursor, dtype: DType) -> Array:
    count = _read_u32(cursor)
    values = numbers.unpack(dtype, cursor.take(count * numbers.SIZES[dtype]))
    return Array(dtype if values else DType.I32, values)


def _read_type_array(cursor: Cursor) -> tuple[DType, ...]:
    return tuple(_dtype(cursor, number) for number in cursor.take(_read_u32(cursor)))


def _read_header(cursor: Cursor, prefix: int) -> tuple[int, int]:
    """The dtype of a block, and where the block ends; it must have `prefix` bytes at least."""
    start = cursor.offset
    _, dtype, _, size = _HEADER.unpack(cursor.take(_HEADER.size))
    if not prefix <= size <= cursor.end - start:
        raise cursor.fail(f"an attribute of {size} bytes, {cursor.end - start} left", start)
    return dtype, start + size


def _read_sizes(cursor: Cursor, rank: int) -> tuple[int, ...]:
    return struct.unpack(f"<{rank}q", cursor.take(8 * rank))


def _read_shape(cursor: Cursor) -> tuple[int, ...] | None:
    # A ranked shape starts with its alignment, which is not 0.
    start = cursor.offset
    if _read_u32(cursor) == 0:
        return None
    cursor.offset = start
    _read_header(cursor, 12)
    return _read_sizes(cursor, _read_u32(cursor))


def _read_dense(cursor: Cursor) -> Dense:
    start = cursor.offset
    dtype_number, end = _read_header(cursor, 20)
    dtype = _dtype(cursor, dtype_number)
    data_offset, count, rank = struct.unpack("<3I", cursor.take(12))
    sizes = _read_sizes(cursor, rank)
    if dtype not in numbers.SIZES:
        raise cursor.fail(f"dense elements of type {dtype.name}", start)
    size = count * numbers.SIZES[dtype]
    if start + data_offset < cursor.offset or start + data_offset + size != end:
        raise cursor.fail(f"{count} elements do not fill the attribute", start)
    if not _is_product(count, sizes):
        raise cursor.fail(f"{count} elements for the sizes {list(sizes)}", start)
    cursor.offset = start + data_offset
    return Dense(dtype, sizes, cursor.take(size))


def _is_product(count: int, sizes: tuple[int, ...]) -> bool:
    # Step by step: the product of hostile sizes would be a number of megabytes.
    product = 0 if 0 in sizes else 1
    for size in sizes:
        product *= size
        if not 0 <= product <= count:
            return False
    return product == count


def _read_aggregate(cursor: Cursor, depth: int) -> tuple[Attribute, ...]:
    if depth == 0:
        raise cursor.fail(f"aggregates nest more than {MAX_AGGREGATES} deep")
    start = cursor.offset
    _, end = _read_header(cursor, 12)
    count = _read_u32(cursor)
    offsets = struct.unpack(f"<{count}I", cursor.take(4 * count))
    inside = Cursor(cursor.data, cursor.problem, cursor.offset, end)
    elements = tuple(_read_element(inside, start + offset, depth) for offset in offsets)
    cursor.offset = end
    return elements


def _read_element(cursor: Cursor, offset: int, depth: int) -> Attribute:
    # In order and apart, so that the work is bounded by the size of the file.
    if not cursor.offset < offset <= cursor.end:
        raise cursor.fail(f"an element at byte {offset}, expected between here and {cursor.end}")
    cursor.offset = offset - 1
    return _read(cursor, cursor.byte(), depth - 1)


def _read_symbol(cursor: Cursor) -> Symbol:
    root_length, nested_count = cursor.varints(2)
    *nested_lengths, text_length = cursor.varints(nested_count + 1)
    root = _text(cursor.take(root_length))
    nested = tuple(_text(cursor.take(length)) for length in nested_lengths)
    return Symbol(root, nested, _text(cursor.take(text_length)))
