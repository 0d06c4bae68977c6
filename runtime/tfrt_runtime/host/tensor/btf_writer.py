"""Tensors to BTF files: see `host.tensor.btf` for the format.  No kernel writes any."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NUMBERS: Final = {"i8": 0, "i32": 2, "i64": 3, "f32": 4, "ui8": 6}
"""Numbers of element types in a file, by type word."""

STORED: Final = {"i8": "<i1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "ui8": "<u1"}
"""How numpy calls what is stored."""


def record(array: Array, word: str, layout: int, body: bytes) -> bytes:
    """A tensor's header and sizes, and then `body`."""
    header = struct.pack("<QBB6x", array.ndim, NUMBERS[word], layout)
    return header + struct.pack(f"<{array.ndim}Q", *array.shape) + body


def dense(array: Array, word: str = "f32") -> bytes:
    """A tensor with all its elements, row by row."""
    return record(array, word, 0, array.astype(STORED[word]).tobytes())


def sparse(array: Array, word: str = "f32") -> bytes:
    """A tensor with the places and values of the elements that are not zero."""
    places = np.argwhere(array)
    values = array[array != 0].astype(STORED[word])
    body = struct.pack("<Q", len(places)) + places.astype("<i8").tobytes() + values.tobytes()
    return record(array, word, 2, body)


def btf(*records: bytes) -> bytes:
    """A file of these records."""
    offset = 8 + 8 * len(records)
    offsets, data = [], b""
    for item in records:
        offsets.append(offset + len(data))
        data += item + bytes(-len(item) % 8)
    return struct.pack(f"<Q{len(records)}Q", len(records), *offsets) + data
