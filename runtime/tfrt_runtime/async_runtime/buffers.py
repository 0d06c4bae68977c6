"""Tensors of host programs as buffers of compiled code, and buffers as tensors: nothing is copied.

A buffer is MLIR's descriptor: allocated address, address of the elements, offset, then sizes and strides
in elements.  A tensor that compiled code was given is kept until none of the code can run any more: a
task may outlive the call that started it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tfrt_runtime.host.process import NativeProcess
from tfrt_runtime.host.raw import WORDS
from tfrt_runtime.host.tensor.buffers import HostBuffer
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.native.layouts import (
    CONCRETE,
    CONTEXT_ARGUMENTS,
    CONTEXT_RESULTS,
    RECORD_ARGUMENTS,
    STATE_BITS,
    TYPE_OBJECT,
    VALUE_KIND,
    VALUE_PAYLOAD,
    VALUE_STATE,
)

_WORDS = {"i1": "bool", "index": "i64"}
_ELEMENT_TYPES = {element.word: element for element in ELEMENT_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Request:
    """What an adapter asks with: eight words, see `tfrt_nb.jit.adapters`."""

    record: int
    index: int
    type: str
    descriptor: int
    globals: int
    global_count: int
    counter: int

    @staticmethod
    def at(address: int) -> Request:
        """The request that starts there."""
        record, index, text, length, *rest = (WORDS[(address >> 3) + i] for i in range(8))
        return Request(record, index, ctypes.string_at(text, length).decode(), *rest)

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The sizes that the type fixes, None where it does not."""
        return tuple(None if size == "?" else int(size) for size in self.type.split("x")[:-1])

    @property
    def element_type(self) -> ElementType:
        """What the elements are."""
        word = self.type.rpartition("x")[2]
        return _ELEMENT_TYPES[_WORDS.get(word, word)]


class KeptTensors:
    """The tensors that compiled code may still use, by the counter of what runs of that code."""

    def __init__(self) -> None:
        self._tensors: dict[int, dict[int, DenseHostTensor]] = {}
        self._lock = threading.Lock()

    def keep(self, counter: int, tensor: DenseHostTensor) -> None:
        """Keep a tensor for a call that is counted already."""
        with self._lock:
            if WORDS[counter >> 3] == 1:  # this call
                self._tensors.pop(counter, None)
            self._tensors.setdefault(counter, {})[id(tensor)] = tensor

    def sweep(self) -> None:
        """Let go of what nobody uses any more."""
        with self._lock:
            over = [counter for counter in self._tensors if WORDS[counter >> 3] == 0]
            dropped = [self._tensors.pop(counter) for counter in over]
        del dropped


def borrow(process: NativeProcess, context: int, request: Request, kept: KeptTensors) -> str | None:
    """Fill in the descriptor of the tensor that is asked for; if it is another one, what is wrong."""
    frame = WORDS[(context + CONTEXT_ARGUMENTS) >> 3]
    tensor = _tensor_at(process, frame + 8 * request.index)
    if tensor is None:
        return f"expected a dense tensor for memref<{request.type}>"
    if tensor.element_type != request.element_type or not _fits(tensor, request.sizes):
        return (
            f"expected a tensor for memref<{request.type}>, "
            f"found dtype = {tensor.element_type}, shape = {tensor.shape}"
        )
    kept.keep(request.counter, tensor)
    address = tensor.buffer.address
    words = (address, address, 0, *tensor.shape.sizes, *_strides(tensor.shape.sizes))
    for place, word in enumerate(words):
        WORDS[(request.descriptor >> 3) + place] = word
    return None


def _fits(tensor: DenseHostTensor, sizes: tuple[int | None, ...]) -> bool:
    found = tensor.shape.sizes
    return len(found) == len(sizes) and all(
        expected in (None, size) for size, expected in zip(found, sizes, strict=True)
    )


def _tensor_at(process: NativeProcess, place: int) -> DenseHostTensor | None:
    """The dense tensor in a word of a frame, if there is one."""
    value = WORDS[place >> 3]
    if value == 0 or WORDS[(value + VALUE_STATE) >> 3] & STATE_BITS != CONCRETE:
        return None
    if WORDS[(value + VALUE_KIND) >> 3] != TYPE_OBJECT << 8:
        return None
    found = process.objects.get(WORDS[(value + VALUE_PAYLOAD) >> 3])
    return found if isinstance(found, DenseHostTensor) else None


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def returned(process: NativeProcess, context: int, request: Request) -> DenseHostTensor:
    """The tensor that a result is: it shares the memory of a tensor, or owns what was allocated."""
    rank = len(request.sizes)
    start = request.descriptor >> 3
    allocated, aligned, offset, *rest = (WORDS[start + i] for i in range(3 + 2 * rank))
    element = request.element_type
    sizes, strides = tuple(rest[:rank]), tuple(rest[rank:])
    address = aligned + offset * element.size
    size = element.size * TensorShape(sizes).element_count
    is_contiguous = strides == _strides(sizes)
    for tensor in _known_tensors(process, context, request):
        buffer = tensor.buffer
        if buffer.address <= allocated <= buffer.address + buffer.size and is_contiguous:
            shared = buffer.slice(address - buffer.address, size)
            return DenseHostTensor(element, TensorShape(sizes), shared)
        if buffer.address <= allocated <= buffer.address + buffer.size:
            return _copy(element, address, sizes, strides)
    if size == 0 or not is_contiguous or _is_global(request, allocated):
        tensor = _copy(element, address, sizes, strides)
        if not _is_global(request, allocated):
            _FREE(allocated)
        return tensor
    memory = HostBuffer.adopt(_Malloc(), allocated, address - allocated + size)
    return DenseHostTensor(element, TensorShape(sizes), memory.slice(address - allocated, size))


def _known_tensors(
    process: NativeProcess, context: int, request: Request
) -> Iterator[DenseHostTensor]:
    """The tensors among the arguments and the results so far."""
    arguments = WORDS[(request.record + RECORD_ARGUMENTS) >> 3]
    for frame, count in (
        (WORDS[(context + CONTEXT_ARGUMENTS) >> 3], arguments),
        (WORDS[(context + CONTEXT_RESULTS) >> 3], request.index),
    ):
        for index in range(count):
            tensor = _tensor_at(process, frame + 8 * index)
            if tensor is not None:
                yield tensor


def _is_global(request: Request, address: int) -> bool:
    table = request.globals >> 3
    return any(
        0 <= address - WORDS[table + 2 * i] < max(1, WORDS[table + 2 * i + 1])
        for i in range(request.global_count)
    )


def _copy(
    element: ElementType, address: int, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> DenseHostTensor:
    if 0 in sizes:
        return DenseHostTensor.over(np.empty(sizes, element.storage))
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * element.size)).from_address(address)
    flat = np.frombuffer(memory, element.storage)
    steps = [stride * element.size for stride in strides]
    array = np.lib.stride_tricks.as_strided(flat, sizes, steps).copy()
    return DenseHostTensor(element, TensorShape(sizes), HostBuffer.over(array))


class _Malloc:
    """Memory that compiled code has allocated."""

    def allocate_bytes(self, size: int, alignment: int) -> int | None:
        """Compiled code does that itself."""
        raise NotImplementedError

    def deallocate_bytes(self, address: int, size: int) -> None:
        """Give it back."""
        del size
        _FREE(address)


def _libc_free() -> Callable[[int], object]:
    free = ctypes.CDLL(None).free
    free.argtypes = (ctypes.c_void_p,)
    free.restype = None
    return free


_FREE = _libc_free()
