"""Pass host programs' tensors to compiled code as buffers, and buffers back, without copying.

A buffer is described by MLIR's descriptor.  Its words are the handle
(`native.coroutines.async_buffers`), the address of the elements, the offset, and then the sizes and
strides in elements.

A tensor that was lent to compiled code is kept until all calls that use it have finished.  A call
has not finished before its tasks have, because a task may outlive the call itself.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tfrt_runtime.diagnostics import error
from tfrt_runtime.host.payload import read_payload
from tfrt_runtime.host.process import NativeProcess, native_process
from tfrt_runtime.host.structs import WORDS, Context, words_at
from tfrt_runtime.host.tensor.dense import BufferType, DenseHostTensor, HostBuffer, buffer_type
from tfrt_runtime.host.tensor.shapes import ElementType, TensorShape
from tfrt_runtime.native import layouts as at

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[Any]]

GONE = "the buffer no longer exists: it was deallocated, or its function has returned"


def kept_bytes(handle: int) -> Array | None:
    """Return the elements of a buffer that compiled code allocated and now passes to Python.

    From now on, compiled code cannot free the buffer.  The buffer is freed with the last array that
    uses its elements.

    Return None if the buffer no longer exists, or if it is freed at the end of a compiled function.
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
    """A buffer's memory, which arrays share.  The last array to be destroyed frees it."""

    def __init__(self, handle: int) -> None:
        address = handle & at.HANDLE_ADDRESS
        size = WORDS[(address + at.BLOCK_SIZE) >> 3] - at.BLOCK_ELEMENTS
        self.__array_interface__ = {
            "data": (address + at.BLOCK_ELEMENTS, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        weakref.finalize(self, _give_back, handle).atexit = False


def _give_back(handle: int) -> None:
    process = native_process()
    process.quick.free_kept(process.spare_context(), handle)


_lock = threading.RLock()  # reentrant: a garbage collection inside the lock may free another block
_blocks: weakref.WeakValueDictionary[int, _Block] = weakref.WeakValueDictionary()
"""The blocks that tensors and arrays share, keyed by handle.  A buffer may be returned twice.
"""


@dataclass(frozen=True, slots=True)
class Spec:
    """Compiled code's description of a buffer, which consists of three words.

    `type` is the type's text.  `counter` is the address of the counter of calls that use the
    buffers.  See `native.kernels.compiled_kernels`.
    """

    type: str
    counter: int

    @staticmethod
    def at(address: int) -> Spec:
        """Read the spec that starts at `address`."""
        text, length, counter = words_at(address, 3)
        return Spec(ctypes.string_at(text, length).decode(), counter)

    @property
    def buffer(self) -> BufferType:
        """The buffer's type in the form that tensors use."""
        return buffer_type(self.type)


class Lender:
    """Lends the tensors of one host to compiled code.

    Threads:
        any
    """

    def __init__(self, process: NativeProcess, failed: Callable[[int, int], None]) -> None:
        """Make a lender.

        The lender calls `failed` with a context and an error value if a result of that context's
        call is an error.
        """
        self._process = process
        self._failed = failed
        self._lent: dict[int, dict[int, DenseHostTensor]] = {}
        """The lent tensors, keyed by the address of the counter of the calls that use them."""
        self._lock = threading.RLock()

    def on_event(self, context: int, event: int, argument: int) -> int:
        """Answer one of `BUFFER_EVENTS`, and return the event's result.

        Threads:
            any
        """
        match event:
            case at.EVENT_BORROW_BUFFER:
                return self._borrow_buffer(context, argument)
            case at.EVENT_RETURN_BUFFER:
                record, index, spec, descriptor = words_at(argument, 4)
                place = (Context.at(context).results >> 3) + index
                WORDS[place] = self._tensor_value(context, record, spec, descriptor)
                return 0
            case at.EVENT_TENSOR_ARRIVED:  # 0, or an error value with one reference
                record, spec, descriptor, value = words_at(argument, 4)
                problem = self.lend(value, spec, descriptor)
                return 0 if problem is None else self._error_at(context, record, problem)
            case _:  # a buffer has arrived; return a resolved value with one reference
                record, spec, descriptor = words_at(argument, 3)
                return self._tensor_value(context, record, spec, descriptor)

    def _borrow_buffer(self, context: int, words: int) -> int:
        """Lend a tensor argument to compiled code.

        Return 0, or 1 if the argument is not the requested tensor.
        """
        record, index, spec, descriptor, is_first = words_at(words, 5)
        if is_first:
            self.call_begins(spec)
        value = WORDS[(Context.at(context).arguments >> 3) + index]
        problem = self.lend(value, spec, descriptor)
        if problem is None:
            return 0
        Context.at(context).failure = self._error_at(context, record, problem)
        return 1

    def _tensor_value(self, context: int, record: int, spec: int, descriptor: int) -> int:
        tensor = self.taken_back(spec, descriptor)
        if isinstance(tensor, str):
            failure = self._error_at(context, record, tensor)
            self._failed(context, failure)
            return failure
        return self._process.quick.value_of(context, at.TYPE_TENSOR, tensor.handle.address, 0)

    def _error_at(self, context: int, record: int, problem: str) -> int:
        """Make an error value with one reference, located at a kernel."""
        owner, number = self._process.owner_of(record)
        return self._process.error_value(context, error(problem, owner.location_of(number)))

    def call_begins(self, spec_address: int) -> None:
        """Prepare for a call that is about to request its first tensor.

        The call is already counted.
        """
        counter = Spec.at(spec_address).counter
        dropped = None
        with self._lock:
            # Each borrower is counted before it gets here, so a count of 1 means that only this
            # call uses the buffers.
            if WORDS[counter >> 3] == 1:
                dropped = self._lent.pop(counter, None)
        del dropped

    def lend(self, value: int, spec_address: int, descriptor: int) -> str | None:
        """Fill in the descriptor for the tensor in a value.

        Return None, or a description of the problem if the value does not contain such a tensor.
        """
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
        # Memory that Python lends outlives the code that receives it, and no code may change a
        # read-only array.
        handle = native_process().words.buffers + at.BUFFERS_STATIC
        handle += at.HANDLE_CONSTANT * tensor.buffer.is_read_only
        for place, word in enumerate((handle, address, 0, *sizes, *_strides(sizes))):
            WORDS[(descriptor >> 3) + place] = word
        return None

    def _tensor_in(self, value: int) -> DenseHostTensor | None:
        """Return the dense tensor in an available, concrete value, or None."""
        found = read_payload(value, self._process.objects)
        if isinstance(found, np.ndarray):
            found = DenseHostTensor.over(found)
        return found if isinstance(found, DenseHostTensor) else None

    def _keep(self, counter: int, tensor: DenseHostTensor) -> None:
        """Keep a tensor for a call that is already counted."""
        with self._lock:
            self._lent.setdefault(counter, {})[id(tensor)] = tensor

    def sweep(self) -> None:
        """Drop the tensors that no call uses anymore."""
        with self._lock:
            over = [counter for counter in self._lent if WORDS[counter >> 3] == 0]
            dropped = [self._lent.pop(counter) for counter in over]
        del dropped

    def taken_back(self, spec_address: int, descriptor: int) -> DenseHostTensor | str:
        """Return a buffer as a tensor.

        The tensor either shares a lent tensor's memory or owns its memory.  If the buffer no longer
        exists, return a description of the problem instead.
        """
        spec = Spec.at(spec_address)
        element_type = spec.buffer.element_type
        rank = len(spec.buffer.sizes)
        handle, aligned, offset, *rest = words_at(descriptor, 3 + 2 * rank)
        view = _View(element_type, aligned + offset * element_type.size, rest[:rank], rest[rank:])
        # No block belongs to this handle: compiled code did not allocate the memory.
        if handle >> at.HANDLE_SHIFT == 0 and WORDS[(handle & at.HANDLE_ADDRESS) >> 3] == 0:
            with self._lock:
                lent = [tensor.buffer for tensor in self._lent.get(spec.counter, {}).values()]
            around = (one for one in lent if one.address <= view.address < one.address + one.size)
            buffer = next(around, None)
            return view.copied() if buffer is None else view.of(buffer)  # None: a global buffer
        memory = kept_bytes(handle)
        if memory is None:
            return GONE
        return view.copied() if view.size == 0 else view.of(HostBuffer.over(memory))


@dataclass(frozen=True, slots=True)
class _View:
    """Elements in memory; `address` is the address of the first element."""

    element_type: ElementType
    address: int
    sizes: list[int]
    strides: list[int]

    @property
    def shape(self) -> TensorShape:
        return TensorShape(tuple(self.sizes))

    @property
    def size(self) -> int:
        """The size of all elements in bytes."""
        return self.shape.element_count * self.element_type.size

    @property
    def end(self) -> int:
        """The address after the last element."""
        last = sum((n - 1) * step for n, step in zip(self.sizes, self.strides, strict=True))
        return self.address + (last + 1) * self.element_type.size

    def of(self, buffer: HostBuffer) -> DenseHostTensor:
        """Return the elements as a tensor.

        The tensor shares the buffer if the elements are contiguous; otherwise, it owns a copy.
        """
        if tuple(self.strides) != _strides(tuple(self.sizes)):
            return self.copied()
        shared = buffer.slice(self.address - buffer.address, self.size)
        return DenseHostTensor(self.element_type, self.shape, shared)

    def copied(self) -> DenseHostTensor:
        """Return the elements as a tensor that owns a copy of them."""
        if self.size == 0:
            array = np.empty(self.sizes, self.element_type.storage)
        else:
            memory = (ctypes.c_char * (self.end - self.address)).from_address(self.address)
            flat = np.frombuffer(memoryview(memory), self.element_type.storage)
            steps = [stride * self.element_type.size for stride in self.strides]
            array = np.lib.stride_tricks.as_strided(flat, self.sizes, steps).copy()
        return DenseHostTensor(self.element_type, self.shape, HostBuffer.over(array))


def _strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of elements in row-major order."""
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return tuple(strides)
