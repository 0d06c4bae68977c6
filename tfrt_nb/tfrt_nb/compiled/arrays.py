"""Buffers that compiled code returns, as numpy arrays: nothing is copied that somebody owns.

A buffer that the code has allocated is the array's from now on, one that it was given is that array
again, with the same memory.  Global buffers are the code's, and copied.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

import numpy as np

from tfrt_runtime.async_runtime.handles import GONE, Array, is_static, kept_bytes
from tfrt_runtime.host.payload import PayloadError


def returned_array(data: bytes, dtype_name: str, rank: int, given: Sequence[object]) -> Array:
    """The array for the bytes of a descriptor.

    Args:
        given: what the function was given, arrays among them.

    Raises:
        PayloadError: if the buffer has ended.
    """
    handle, aligned, offset, *rest = struct.unpack(f"<{len(data) // 8}q", data)
    dtype = np.dtype(dtype_name)
    sizes, strides = rest[:rank], [stride * dtype.itemsize for stride in rest[rank:]]
    start = aligned + offset * dtype.itemsize
    memory = None if is_static(handle) else kept_bytes(handle)
    if memory is None and not is_static(handle):
        raise PayloadError(GONE)
    if 0 in sizes:
        return np.empty(sizes, dtype)
    for array in given if memory is None else ():
        if isinstance(array, np.ndarray) and 0 <= start - array.ctypes.data < array.nbytes:
            memory = array.reshape(-1)
    if memory is not None:
        return np.ndarray(sizes, dtype, memory, start - memory.ctypes.data, strides)
    last = sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
    borrowed = (ctypes.c_char * (last + dtype.itemsize)).from_address(start)
    return np.ndarray(sizes, dtype, memoryview(borrowed), 0, strides).copy()
