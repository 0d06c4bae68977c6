"""Count the arrays that Python kernels return.

The arrays count toward the host's budget, as the native core's tensors do.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from tfrt_runtime.host.budget import show_bytes
from tfrt_runtime.host.payload import PayloadError
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.tensor.shapes import AnyArray
from tfrt_runtime.native.machine import HAS_THREADS

LEAST = 1 << 16
"""The minimum size, in bytes, of an array that is counted.

Smaller arrays are not worth the few microseconds that counting takes.
"""
# If a block is larger than any block freed so far, glibc gets it directly from the system.  glibc
# keeps at most twice the size of the largest freed block as free memory.  After a block near
# glibc's maximum of 32 MB is freed, glibc keeps the arrays of a few MB that one call makes for the
# next call, which then needs no new pages.
if HAS_THREADS:  # a web page never returns memory to the system
    np.empty(31 << 20, np.uint8)
_counted: dict[int, weakref.ref[AnyArray]] = {}
"""The arrays that are counted now, keyed by id, so that no array is counted twice."""


def count(array: AnyArray, limit: int) -> None:
    """Count an array's memory until it is freed.

    For a view, count the array that owns the memory.  Tensors' memory is already counted.  The
    memory of mapped files and of other libraries does not belong to numpy, and is not counted.

    Raises:
        PayloadError: if the array exceeds the budget of `limit` bytes.
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    size = array.nbytes
    if size < LEAST or array.base is not None or id(array) in _counted:
        return
    process = native_process()
    held = process.memory_held
    if not process.quick.reserve_within(process.address, limit, size):
        raise PayloadError(
            f"out of memory: an array of {show_bytes(size)} would exceed the budget of"
            f" {show_bytes(limit)}, of which {show_bytes(held)} is in use"
        )
    _counted[id(array)] = weakref.ref(array, _forget(id(array), size))


def _forget(key: int, size: int) -> Callable[[object], None]:
    def gone(_: object) -> None:
        _counted.pop(key, None)
        process = native_process()
        process.quick.give_back(process.address, size)

    return gone
