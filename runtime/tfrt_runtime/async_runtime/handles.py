"""Handles of buffers (`native.async_buffers`), as Python gives and gets them."""

from __future__ import annotations

import threading
import weakref
from typing import Any, TypeAlias

import numpy as np

from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.native import async_layouts as co

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Any]]

GONE = "the buffer has ended: it was deallocated, or its function has returned"


def lent_handle(memory: object) -> int:
    """For memory of Python's, which outlives the code that gets it: no code may change a read-only array."""
    is_constant = isinstance(memory, np.ndarray) and not memory.flags.writeable
    return native_process().words.buffers + co.BUFFERS_STATIC + co.HANDLE_CONSTANT * is_constant


def is_static(handle: int) -> bool:
    """Whether a handle is of memory that exists and that compiled code does not allocate."""
    return handle >> co.HANDLE_SHIFT == 0 and WORDS[(handle & co.HANDLE_ADDRESS) >> 3] == 0


def kept_bytes(handle: int) -> Array | None:
    """The elements of a buffer that compiled code has allocated and gives away.

    From now on the code cannot give it back: the last array of its elements does.  None if it has ended,
    or ends with a function of the code.
    """
    with _lock:
        block = _blocks.get(handle)
        if block is None:
            process = native_process()
            keep = process.quick.keep_buffer
            if not keep(process.spare_context(), handle):
                return None
            block = _blocks[handle] = _Block(handle)
    return np.asarray(block)


class _Block:
    """A block that arrays share; with the last of them it is given back."""

    def __init__(self, handle: int) -> None:
        address = handle & co.HANDLE_ADDRESS
        size = WORDS[(address + co.BLOCK_SIZE) >> 3] - co.BLOCK_ELEMENTS
        self.__array_interface__ = {
            "data": (address + co.BLOCK_ELEMENTS, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        weakref.finalize(self, _give_back, handle).atexit = False


def _give_back(handle: int) -> None:
    process = native_process()
    process.quick.free_kept(process.spare_context(), handle)


_lock = threading.RLock()  # a collection inside may end another block
_blocks: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()
"""What tensors and arrays share, by handle: a buffer may come back twice."""
