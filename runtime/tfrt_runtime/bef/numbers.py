"""Convert numbers to bytes and back: the element types of attributes and tensors."""

from __future__ import annotations

import struct
from math import isnan

from tfrt_runtime.bef.encoding import DType

Number = bool | int | float

# struct codes of the types whose values are Python numbers; a bfloat16 is the upper half of a
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
    """Pack `values` one after the other.

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
        return bits >> 16 | 0x40  # still a NaN when the lower half is gone
    # Round to nearest, ties to even.
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def unpack(dtype: int, data: bytes | memoryview) -> tuple[Number, ...]:
    """Unpack the numbers in `data`, which holds a whole number of them."""
    count = len(data) // SIZES[dtype]
    values = struct.unpack(f"<{count}{FORMATS[dtype]}", data)
    if dtype != DType.BF16:
        return values
    return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(bits << 16 for bits in values)))
