"""Tensors of host programs as buffers of compiled code, and buffers as tensors: nothing is copied.

A buffer is MLIR's descriptor: handle (`handles`), address of the elements, offset, then sizes and strides
in elements.  A tensor that compiled code was given is kept until none of the code can run any more: a
task may outlive the call that started it.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass

import numpy as np

from tfrt_runtime.async_runtime.handles import GONE, is_static, kept_bytes, lent_handle
from tfrt_runtime.host.payload import read_payload
from tfrt_runtime.host.process import NativeProcess
from tfrt_runtime.host.structs import WORDS, words_at
from tfrt_runtime.host.tensor.buffers import HostBuffer
from tfrt_runtime.host.tensor.dense import BufferType, DenseHostTensor, buffer_type
from tfrt_runtime.host.tensor.element_types import ElementType
from tfrt_runtime.host.tensor.shapes import TensorShape


@dataclass(frozen=True, slots=True)
class Spec:
    """What compiled code says of a buffer: three words, see `native.compiled_kernels`."""

    type: str
    counter: int

    @staticmethod
    def at(address: int) -> Spec:
        """The spec that starts there."""
        text, length, counter = words_at(address, 3)
        return Spec(ctypes.string_at(text, length).decode(), counter)

    @property
    def buffer(self) -> BufferType:
        """The type as tensors fill it."""
        return buffer_type(self.type)


class Lender:
    """Lends the tensors of one host to compiled code.  Safe from any thread."""

    def __init__(self, process: NativeProcess) -> None:
        self._process = process
        self._lent: dict[int, dict[int, DenseHostTensor]] = {}
        """By the counter of what runs of the code that has them."""
        self._lock = threading.RLock()

    def call_begins(self, spec_address: int) -> None:
        """A call, which is counted already, is about to ask for its first tensor."""
        counter = Spec.at(spec_address).counter
        dropped = None
        with self._lock:
            # Each borrower was counted before: only this call refers to it.
            if WORDS[counter >> 3] == 1:
                dropped = self._lent.pop(counter, None)
        del dropped

    def lend(self, value: int, spec_address: int, descriptor: int) -> str | None:
        """Fill in the descriptor of the tensor in a value; what is wrong if there is no such one."""
        spec = Spec.at(spec_address)
        tensor = self._tensor_in(value)
        if tensor is None:
            return f"expected a dense tensor for memref<{spec.type}>"
        if not spec.buffer.fits(tensor):
            return (
                f"expected a tensor for memref<{spec.type}>, "
                f"found dtype = {tensor.element_type}, shape = {tensor.shape}"
            )
        self._keep(spec.counter, tensor)
        address, sizes = tensor.buffer.address, tensor.shape.sizes
        handle = lent_handle(tensor.buffer.memory)
        for place, word in enumerate((handle, address, 0, *sizes, *_strides(sizes))):
            WORDS[(descriptor >> 3) + place] = word
        return None

    def _tensor_in(self, value: int) -> DenseHostTensor | None:
        """The dense tensor in an available, concrete value."""
        found = read_payload(value, self._process.objects)
        return found if isinstance(found, DenseHostTensor) else None

    def _keep(self, counter: int, tensor: DenseHostTensor) -> None:
        """Keep a tensor for a call that is counted already."""
        with self._lock:
            self._lent.setdefault(counter, {})[id(tensor)] = tensor

    def sweep(self) -> None:
        """Drop buffers that have no user any more."""
        with self._lock:
            over = [counter for counter in self._lent if WORDS[counter >> 3] == 0]
            dropped = [self._lent.pop(counter) for counter in over]
        del dropped

    def taken_back(self, spec_address: int, descriptor: int) -> DenseHostTensor | str:
        """The tensor that a buffer is: it shares the memory of one that was lent, or owns its own.

        What is wrong if the buffer has ended.
        """
        spec = Spec.at(spec_address)
        element_type = spec.buffer.element_type
        rank = len(spec.buffer.sizes)
        handle, aligned, offset, *rest = words_at(descriptor, 3 + 2 * rank)
        view = _View(element_type, aligned + offset * element_type.size, rest[:rank], rest[rank:])
        if is_static(handle):
            with self._lock:
                lent = [tensor.buffer for tensor in self._lent.get(spec.counter, {}).values()]
            for buffer in lent:
                if buffer.address <= view.address < buffer.address + buffer.size:
                    return view.of(buffer)
            return view.copied()  # a global buffer
        memory = kept_bytes(handle)
        if memory is None:
            return GONE
        return view.copied() if view.size == 0 else view.of(HostBuffer.over(memory))


@dataclass(frozen=True, slots=True)
class _View:
    """Elements somewhere in memory, `address` is that of the first one."""

    element_type: ElementType
    address: int
    sizes: list[int]
    strides: list[int]

    @property
    def shape(self) -> TensorShape:
        return TensorShape(tuple(self.sizes))

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return self.shape.element_count * self.element_type.size

    @property
    def end(self) -> int:
        """Behind the last element."""
        last = sum((n - 1) * step for n, step in zip(self.sizes, self.strides, strict=True))
        return self.address + (last + 1) * self.element_type.size

    def of(self, buffer: HostBuffer) -> DenseHostTensor:
        """The elements as a tensor that shares the buffer, if they lie in order."""
        if tuple(self.strides) != _strides(tuple(self.sizes)):
            return self.copied()
        shared = buffer.slice(self.address - buffer.address, self.size)
        return DenseHostTensor(self.element_type, self.shape, shared)

    def copied(self) -> DenseHostTensor:
        """The elements as a tensor of their own."""
        if self.size == 0:
            array = np.empty(self.sizes, self.element_type.storage)
        else:
            memory = (ctypes.c_char * (self.end - self.address)).from_address(self.address)
            flat = np.frombuffer(memoryview(memory), self.element_type.storage)
            steps = [stride * self.element_type.size for stride in self.strides]
            array = np.lib.stride_tricks.as_strided(flat, self.sizes, steps).copy()
        return DenseHostTensor(self.element_type, self.shape, HostBuffer.over(array))


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Of elements that lie row by row."""
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return tuple(strides)
