"""Write BTF files, which kernels can only read: see `tfrt_runtime.kernels.tensor.btf`."""

from __future__ import annotations

import struct

import numpy as np

from tfrt_runtime.host.tensor.shapes import AnyArray
from tfrt_runtime.kernels.tensor.btf import RECORD_HEADER, STORED_TYPES, Layout

_NUMBERS = {element.word: number for number, element in STORED_TYPES.items()}


def _record(array: AnyArray, word: str, layout: Layout, body: bytes) -> bytes:
    """Return a record: a tensor's header, its sizes, and `body`."""
    header = RECORD_HEADER.pack(array.ndim, _NUMBERS[word], layout)
    return header + struct.pack(f"<{array.ndim}Q", *array.shape) + body


def dense(array: AnyArray, word: str = "f32") -> bytes:
    """Return the record of a dense tensor with elements of type `word`, row by row."""
    return _record(array, word, Layout.DENSE, _stored(array, word))


def sparse(array: AnyArray, word: str = "f32") -> bytes:
    """Return the record of a sparse tensor: the positions and values of its nonzero elements."""
    places = np.argwhere(array)
    values = _stored(array[array != 0], word)
    body = struct.pack("<Q", len(places)) + _stored(places, "i64") + values
    return _record(array, word, Layout.SPARSE, body)


def btf(*records: bytes) -> bytes:
    """Return a file with these records."""
    offset = 8 + 8 * len(records)
    offsets, data = [], b""
    for item in records:
        offsets.append(offset + len(data))
        data += item + bytes(-len(item) % 8)
    return struct.pack(f"<Q{len(records)}Q", len(records), *offsets) + data


def _stored(array: AnyArray, word: str) -> bytes:
    return array.astype(STORED_TYPES[_NUMBERS[word]].storage.newbyteorder("<")).tobytes()
