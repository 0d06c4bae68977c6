"""Buffers that compiled code returns, as numpy arrays: nothing is copied that somebody owns.

A buffer that the code has allocated is the array's from now on, one that it was given is that array
again, with the same memory.  Others are copied: global buffers are the code's.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tfrt_runtime.host.allocator import MallocAllocator

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Any]]

_malloc = MallocAllocator()
"""Compiled code allocates as the C library does."""


class Memory:
    """Memory that compiled code has allocated, and that arrays share; the last one gives it back."""

    _known: ClassVar[weakref.WeakValueDictionary[int, Memory]] = weakref.WeakValueDictionary()

    def __init__(self, address: int, size: int) -> None:
        _malloc.take_over(size)
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        weakref.finalize(self, _malloc.deallocate_bytes, address, size).atexit = False
        self._known[address] = self

    @classmethod
    def known(cls, address: int) -> Memory | None:
        """The memory there, if it came back before and somebody has it still."""
        return cls._known.get(address)


def returned_array(
    data: bytes, dtype_name: str, rank: int, given: Sequence[object], take: Callable[[int], bool]
) -> Array:
    """The array for the bytes of a descriptor.

    Args:
        given: what the function was given, arrays among them.
        take: whether the code has allocated an address; from now on it may not give it back.
    """
    allocated, aligned, offset, *rest = struct.unpack(f"<{len(data) // 8}q", data)
    dtype = np.dtype(dtype_name)
    sizes, strides = rest[:rank], [stride * dtype.itemsize for stride in rest[rank:]]
    start = aligned + offset * dtype.itemsize
    is_empty = 0 in sizes
    last = sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
    end = start if is_empty else start + last + dtype.itemsize
    memory = Memory.known(allocated)
    if memory is None and take(allocated):
        memory = Memory(allocated, end - allocated)
    if is_empty:
        return np.empty(sizes, dtype)
    if memory is not None:
        flat = np.asarray(memory)
        return np.ndarray(sizes, dtype, flat, start - allocated, strides)
    for array in given:
        if isinstance(array, np.ndarray) and array.ctypes.data == allocated and array.size:
            flat = array.reshape(-1)
            return np.ndarray(sizes, dtype, flat, start - allocated, strides)
    borrowed = (ctypes.c_char * (end - start)).from_address(start)
    return np.ndarray(sizes, dtype, memoryview(borrowed), 0, strides).copy()
