"""Attributes to bytes.

Layouts, all little-endian:

* a scalar or a type: the value itself (a type is one byte, its `DType`);
* a string: u32 length, the bytes;
* an array: u32 count, the elements; an empty array of anything and an unranked shape: u32 0;
* a shape, dense elements, an aggregate: the header u8 alignment, u8 dtype, u16 size of all that
  comes before the aligned part, u32 size in bytes of the whole, and
  - shape: u32 rank, i64 sizes (-1 is unknown);
  - dense: u32 offset of the data, u32 element count, u32 rank, i64 sizes, the data;
  - aggregate: u32 count, u32 offset of each element from the header, the elements;
* a symbol in a compiled module: VBR length of the root name, VBR count and lengths of the nested
  names, VBR length of the module's text, all these strings, a NUL.

Alignment is that of the data: a header stands where the part after it comes out aligned.
An element of an aggregate has its kind in the byte before it.
"""

from __future__ import annotations

import struct
from math import prod

from tfrt_runtime.bef import numbers
from tfrt_runtime.bef.attributes import (
    Aggregate,
    Array,
    Attribute,
    Dense,
    Scalar,
    Shape,
    String,
    Symbol,
    TypeArray,
    TypeValue,
    kind_of,
)
from tfrt_runtime.bef.wire import ByteBuilder

_HEADER = struct.Struct("<BBHI")
_U32 = struct.Struct("<I")
_BLOCK_ALIGNMENT = 8


def write_attribute(out: ByteBuilder, attribute: Attribute) -> int:
    """Append `attribute`; the offset by which it is referred to."""
    alignment, prefix = _layout(attribute)
    out.align(alignment, prefix)
    offset = len(out)
    _write_body(out, attribute)
    return offset


def _layout(attribute: Attribute) -> tuple[int, int]:
    """The alignment of the data, and how many bytes stand before the data."""
    match attribute:
        case Scalar(dtype, _):
            return numbers.SIZES[dtype], 0
        case TypeValue() | Symbol():
            return 1, 0
        case Array(dtype, values) if values:
            return max(4, numbers.SIZES[dtype]), 4
        case Shape(sizes) if sizes is not None:
            return _BLOCK_ALIGNMENT, 12
        case Dense(_, sizes, _):
            return _BLOCK_ALIGNMENT, 20 + 8 * len(sizes)
        case Aggregate(elements):
            alignment = max(4, *map(_alignment_in_aggregate, elements))
            return alignment, 12 + 4 * len(elements)
    return 4, 0  # starts with a count


def _alignment_in_aggregate(attribute: Attribute) -> int:
    """What an aggregate's own alignment takes its element for; arrays for the most they can be."""
    match attribute:
        case Scalar() | TypeValue() | String():
            return _layout(attribute)[0]
    return _BLOCK_ALIGNMENT


def _write_body(out: ByteBuilder, attribute: Attribute) -> None:
    data = out.data
    match attribute:
        case Scalar(dtype, value):
            data += numbers.pack(dtype, (value,))
        case TypeValue(dtype):
            out.byte(dtype)
        case String(text):
            encoded = text.encode(errors="surrogateescape")
            data += _U32.pack(len(encoded)) + encoded
        case Array(dtype, values):
            data += _U32.pack(len(values)) + numbers.pack(dtype, values)
        case TypeArray(dtypes):
            data += _U32.pack(len(dtypes)) + bytes(dtypes)
        case Shape(sizes):
            data += _shape_bytes(sizes)
        case Dense():
            data += _dense_bytes(attribute)
        case Aggregate(elements):
            _write_aggregate(out, elements, *_layout(attribute))
        case Symbol():
            _write_symbol(out, attribute)


def _shape_bytes(sizes: tuple[int, ...] | None) -> bytes:
    if sizes is None:
        return _U32.pack(0)
    rank = len(sizes)
    header = _HEADER.pack(_BLOCK_ALIGNMENT, 0, 12, 12 + 8 * rank)
    return header + struct.pack(f"<I{rank}q", rank, *sizes)


def _dense_bytes(dense: Dense) -> bytes:
    rank = len(dense.sizes)
    start = 20 + 8 * rank
    header = _HEADER.pack(_BLOCK_ALIGNMENT, dense.dtype, start, start + len(dense.data))
    counts = struct.pack(f"<3I{rank}q", start, prod(dense.sizes), rank, *dense.sizes)
    return header + counts + dense.data


def _write_aggregate(
    out: ByteBuilder, elements: tuple[Attribute, ...], alignment: int, prefix: int
) -> None:
    start = len(out)
    out.data += bytes(prefix)  # known when the elements are written
    offsets = [_write_element(out, element) - start for element in elements]
    header = _HEADER.pack(alignment, 0, prefix & 0xFFFF, len(out) - start)
    table = struct.pack(f"<{1 + len(offsets)}I", len(offsets), *offsets)
    out.data[start : start + prefix] = header + table


def _write_element(out: ByteBuilder, element: Attribute) -> int:
    alignment, prefix = _layout(element)
    out.align(alignment, 1 + prefix)
    out.byte(kind_of(element))
    offset = len(out)
    _write_body(out, element)
    return offset


def _write_symbol(out: ByteBuilder, symbol: Symbol) -> None:
    root, text, *nested = (
        part.encode(errors="surrogateescape")
        for part in (symbol.root, symbol.module_text, *symbol.nested)
    )
    out.varints((len(root), len(nested)))
    out.varints([*map(len, nested), len(text)])
    out.data += b"".join((root, *nested, text, b"\0"))
