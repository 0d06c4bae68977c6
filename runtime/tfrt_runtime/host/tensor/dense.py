"""Dense tensors, and the buffer types of compiled code.

The elements of a dense tensor are in one buffer, row by row.  The memory of a buffer is
reference-counted, and numpy accesses it without a copy.  The memory belongs to a tensor of the
native core (`native.tensors`), to an allocator, or to a numpy array.
"""

from __future__ import annotations

import ctypes
import functools
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.allocator import MAXIMUM_ALIGNMENT, PREFERRED_ALIGNMENT, HostAllocator
from tfrt_runtime.host.payload import ENCODERS, FACES, READERS, SCALAR_TYPES, NativeTensor
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import WORDS, Tensor, Value
from tfrt_runtime.host.tensor.shapes import (
    ELEMENT_TYPES,
    MAXIMUM_COUNT,
    AnyArray,
    ElementType,
    TensorShape,
    element_type_of,
    elements_text,
    known_shape,
)
from tfrt_runtime.native import layouts as at

ELEMENT_NUMBERS: Final = {
    element.dtype: SCALAR_TYPES["i1" if element.dtype is DType.I1 else element.word]
    for element in ELEMENT_TYPES.values()
}
ELEMENTS: Final = {number: ELEMENT_TYPES[dtype] for dtype, number in ELEMENT_NUMBERS.items()}


class TensorHandle:
    """A reference to a native tensor, which is dropped when this object is destroyed.

    `address` is the tensor's address.
    """

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        """Take over the caller's reference to the tensor."""
        self.address = address

    @classmethod
    def sharing(cls, address: int) -> TensorHandle:
        """Make a handle with a new reference to the tensor."""
        native_process().quick.add_tensor_reference(address)
        return cls(address)

    @classmethod
    def over(
        cls, element_type: ElementType, sizes: tuple[int, ...], count: int, owner: HostBuffer
    ) -> TensorHandle:
        """Make a native tensor over the elements in `owner`, which lives as long as the tensor."""
        process = native_process()
        make = process.quick.tensor_over
        number, rank = ELEMENT_NUMBERS[element_type.dtype], len(sizes)
        handle, data = process.objects.add(owner), owner.address
        # A tensor belongs to no queue: the store is the process's.
        address = make(process.spare_context(), process.store, number, rank, count, data, handle)
        if owner.is_read_only:
            WORDS[(address + at.TENSOR_BYTES) >> 3] = at.READ_ONLY
        first = (address + at.TENSOR_SIZES) >> 3
        for i, size in enumerate(sizes):
            WORDS[first + i] = size
        return cls(address)

    def __del__(self) -> None:
        process = native_process()
        process.quick.drop_tensor(process.spare_context(), self.address)

    @property
    def tensor(self) -> Tensor:
        """The native tensor, which lives as long as this handle."""
        return Tensor.at(self.address)


def sizes_at(tensor: int) -> tuple[int, ...]:
    """Return the sizes of a native tensor or shape."""
    first = (tensor + at.TENSOR_SIZES) >> 3
    return tuple(WORDS[first : first + Tensor.at(tensor).rank])


def shape_words(element: ElementType, sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the data words from which a native kernel makes a tensor.

    The words are the elements' type, an element's size, and the words of the struct TENSOR.
    """
    words = [0] * (at.TENSOR_SIZES // 8)
    words[at.TENSOR_RANK // 8], words[at.TENSOR_COUNT // 8] = len(sizes), count
    return (ELEMENT_NUMBERS[element.dtype], element.size, *words, *sizes)


class HostBuffer:
    """`size` bytes at `address`, which live as long as this buffer, its slices, and their arrays.

    A write through one slice or array of the buffer is visible in all others.
    """

    __slots__ = ("_kept", "_memory", "_offset", "address", "size")

    def __init__(self, memory: Memory, address: int, offset: int, size: int) -> None:
        """Create a buffer of `size` bytes, at `offset` in `memory`, whose address is `address`."""
        self._memory = memory
        self._offset = offset
        self.address = address + offset
        self.size = size

    @classmethod
    def allocate(cls, allocator: HostAllocator, size: int, alignment: int) -> HostBuffer | None:
        """Allocate bytes with undefined contents; return None if the allocator refuses.

        Raises:
            ValueError: if `size` or `alignment` is invalid.
        """
        if size < 0:
            raise ValueError(f"a buffer cannot have {size} bytes")
        if not 0 < alignment <= MAXIMUM_ALIGNMENT or alignment & (alignment - 1):
            raise ValueError(
                f"alignment {alignment} is not a power of two up to {MAXIMUM_ALIGNMENT}"
            )
        address = allocator.allocate_bytes(size, alignment)
        if address is None:
            return None
        memory = _sized(AllocatedMemory, size.bit_length()).from_address(address)
        memory.owed = allocator, address, size
        return cls(memory, address, 0, size)

    @property
    def is_read_only(self) -> bool:
        """Whether the bytes belong to a read-only array and must not be written."""
        return isinstance(self._memory, np.ndarray) and not self._memory.flags.writeable

    def become_own(self) -> None:
        """If the bytes belong to a read-only array, switch to a copy of them.

        The buffer keeps that array alive, because kernels on other threads may still read it.
        """
        if self.is_read_only:
            copy = self.array(ELEMENT_TYPES[DType.UI8], (self.size,)).copy()
            self._kept: object = getattr(self, "_kept", None), self._memory
            self._memory, self._offset, self.address = copy, 0, copy.__array_interface__["data"][0]

    @classmethod
    def of_tensor(cls, handle: TensorHandle) -> HostBuffer:
        """Return the memory of a native tensor as a buffer."""
        tensor = handle.tensor
        if tensor.owner:
            owner: HostBuffer = native_process().objects.get(tensor.owner)
            return owner
        memory = _sized(NativeMemory, tensor.bytes.bit_length()).from_address(tensor.data)
        memory.handle = handle
        return cls(memory, tensor.data, 0, tensor.bytes)

    @classmethod
    def over(cls, array: AnyArray) -> HostBuffer:
        """Return the memory of `array`, which must be C-contiguous, as a buffer."""
        size = array.nbytes
        if size == 0 or not array.flags.writeable:
            return cls(array, array.__array_interface__["data"][0], 0, size)
        # This takes a quarter of the time of `__array_interface__`, but ctypes requires a writable
        # array. (`Any`, because numpy's stubs do not declare the buffer protocol.)
        memory: Any = array
        return cls(array, ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0, size)

    def slice(self, offset: int, size: int) -> HostBuffer:
        """Return a buffer of `size` bytes from `offset` on, which shares this buffer's memory.

        Raises:
            ValueError: if some of the bytes are outside this buffer.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(
                f"bytes {offset} to {offset + size} are not within a buffer of {self.size} bytes"
            )
        return HostBuffer(self._memory, self.address - self._offset, self._offset + offset, size)

    def array(self, element_type: ElementType, sizes: tuple[int, ...]) -> AnyArray:
        """Return the buffer's first bytes as an array.

        The caller must have checked that the buffer is large enough.
        """
        # numpy keeps the memory alive while a view of the array exists. (`Any`, because numpy's
        # stub names only a few types.)
        memory: Any = self._memory
        return np.ndarray(sizes, element_type.storage, memory, self._offset)

    def __str__(self) -> str:
        return f"HostBuffer<pointer=0x{self.address:x}, size={self.size}>"


class NativeMemory(ctypes.Array[ctypes.c_char]):
    """Exposes a native tensor's bytes through the buffer protocol, and keeps the tensor alive."""

    _type_ = ctypes.c_char
    _length_ = 0
    handle: TensorHandle


class AllocatedMemory(ctypes.Array[ctypes.c_char]):
    """Exposes an allocator's memory through the buffer protocol, and frees it when destroyed."""

    _type_ = ctypes.c_char
    _length_ = 0
    owed: tuple[HostAllocator, int, int]

    def __del__(self) -> None:
        allocator, address, size = self.owed
        allocator.deallocate_bytes(address, size)


Memory = NativeMemory | AllocatedMemory | AnyArray
Kind = TypeVar("Kind", NativeMemory, AllocatedMemory)


@cache
def _sized(kind: type[Kind], bits: int) -> type[Kind]:
    """Return a subclass of `kind` for sizes of `bits` bits.

    An object of that class claims to have `2 ** bits` bytes; `HostBuffer` has the actual size.  All
    sizes share a few classes, because ctypes never frees a class.
    """
    return type(kind.__name__, (kind,), {"_length_": 1 << bits})


PRINTED_ELEMENTS: Final = 16


class DenseHostTensor(NativeTensor):
    """Elements of one type in a shape.

    `array` is a numpy array over the tensor's memory: writing to it changes the tensor.  Two
    tensors may share memory.  Reads and writes are not ordered here; a program's chains order them.
    """

    __slots__ = ("_array", "_buffer", "element_type", "shape")

    def __init__(self, element_type: ElementType, shape: TensorShape, buffer: HostBuffer) -> None:
        """Create a tensor of `shape` over `buffer`.

        Raises:
            ValueError: if the buffer's size is not exactly the shape's, or if numpy does not
                support such an array.
        """
        if buffer.size != shape.element_count * element_type.size:
            raise ValueError(
                f"buffer_size ({buffer.size}) is not equal to the number of elements in shape "
                f"({shape}) times element size ({element_type.size})"
            )
        self.element_type = element_type
        self.shape = shape
        self._buffer: HostBuffer | None = buffer
        self._handle: TensorHandle | None = None
        try:
            self._array: AnyArray | None = buffer.array(element_type, shape.sizes)
        except ValueError:
            # There are too many dimensions, or a tensor without elements has a size beyond numpy's
            # range.
            raise ValueError(f"Cannot allocate tensor of shape {shape}") from None

    @classmethod
    def create(
        cls, allocator: HostAllocator, element_type: ElementType, shape: TensorShape
    ) -> DenseHostTensor | None:
        """Create a tensor with undefined contents; return None if out of memory.

        Raises:
            ValueError: if numpy does not support such an array.
        """
        size = shape.element_count * element_type.size
        if size > MAXIMUM_COUNT:
            return None
        buffer = HostBuffer.allocate(allocator, size, PREFERRED_ALIGNMENT)
        return None if buffer is None else cls(element_type, shape, buffer)

    @classmethod
    def over(cls, array: AnyArray) -> DenseHostTensor:
        """Return a tensor that uses the memory of `array` or of a copy.

        A copy is made if the array is not C-contiguous, is not aligned, or has another byte order.
        If a program writes to a tensor over a read-only array, the tensor switches to a copy
        (`writable`).  A `shared` array, or a part of one, is an exception: its memory belongs to a
        tensor, to which the program may write.

        Raises:
            ValueError: if tensors do not support such elements.
        """
        element_type = element_type_of(array)
        native: AnyArray = np.array(array, element_type.storage, order="C", copy=None)
        if not native.flags.aligned:
            native = native.copy()
        if not native.flags.writeable:
            owner: object = native
            while isinstance(owner, np.ndarray):
                owner = owner.base
            if isinstance(owner, _Shared):
                buffer = owner.tensor.buffer
                offset = native.__array_interface__["data"][0] - buffer.address
                # Otherwise, the tensor has switched to a copy, and the array uses the tensor's
                # former memory.
                if 0 <= offset <= buffer.size - native.nbytes:
                    part = buffer.slice(offset if native.nbytes else 0, native.nbytes)
                    return cls(element_type, TensorShape(native.shape), part)
        return cls._of(element_type, known_shape(native.shape), HostBuffer.over(native))

    @staticmethod
    def view_of(array: AnyArray) -> AnyArray | None:
        """Return a read-only view of a non-contiguous array, such as a transposed one.

        A program keeps such a view as it is, and Python kernels receive it unchanged.  Where
        contiguous rows are needed, `over` copies it.  Return None for other arrays.

        Raises:
            ValueError: if tensors do not support such elements.
        """
        element_type_of(array)
        if array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
            return None
        view = np.asarray(array).view()
        view.flags.writeable = False
        return view

    @classmethod
    def of_handle(cls, handle: TensorHandle) -> DenseHostTensor:
        """Return a Python object for a native tensor."""
        element_type = ELEMENTS[handle.tensor.element]
        return cls._of(element_type, known_shape(sizes_at(handle.address)), None, handle)

    @classmethod
    def _of(
        cls,
        element_type: ElementType,
        shape: TensorShape,
        buffer: HostBuffer | None,
        handle: TensorHandle | None = None,
    ) -> DenseHostTensor:
        """Return a tensor for a buffer or a handle.

        The tensor's other parts are created when they are needed.
        """
        tensor = cls.__new__(cls)
        tensor.element_type, tensor.shape = element_type, shape
        tensor._buffer, tensor._handle, tensor._array = buffer, handle, None
        return tensor

    @property
    def buffer(self) -> HostBuffer:
        """The tensor's memory."""
        if self._buffer is None:
            self._buffer = HostBuffer.of_tensor(self.handle)
        return self._buffer

    @property
    def array(self) -> AnyArray:
        """The elements as a numpy array over the tensor's memory."""
        if self._array is None:
            self._array = self.buffer.array(self.element_type, self.shape.sizes)
        return self._array

    def writable(self) -> DenseHostTensor:
        """Return this tensor for a kernel that writes to it.

        If the tensor's memory is read-only, the tensor switches to a copy.
        """
        place = (self.handle.address + at.TENSOR_BYTES) >> 3
        if WORDS[place] == at.READ_ONLY:
            self.buffer.become_own()
            WORDS[(self.handle.address + at.TENSOR_DATA) >> 3] = self.buffer.address
            WORDS[place], self._array = 0, None
        return self

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self.handle.tensor.data if self._buffer is None else self._buffer.address

    @property
    def shared(self) -> AnyArray:
        """The elements as user code sees them: a read-only array over the tensor's memory."""
        return np.asarray(_Shared(self))

    @property
    def handle(self) -> TensorHandle:
        """The native tensor, created on first use."""
        if self._handle is None:
            shape, buffer = self.shape, self.buffer
            self._handle = TensorHandle.over(
                self.element_type, shape.sizes, shape.element_count, buffer
            )
        return self._handle

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """Return an array for `numpy.asarray`.

        The array uses the tensor's memory, unless a copy is requested.
        """
        return np.array(self.array, dtype, copy=copy)

    def __str__(self) -> str:
        shown = self.array.reshape(-1)[:PRINTED_ELEMENTS]
        more = ", ... " if self.shape.element_count > PRINTED_ELEMENTS else ""
        return (
            f"DenseHostTensor dtype = {self.element_type}, shape = {self.shape}, "
            f"values = [{elements_text(self.element_type, shown)}{more}]"
        )


class _Shared:
    """The base object of `DenseHostTensor.shared` arrays, which keeps the tensor alive."""

    __slots__ = ("__array_interface__", "tensor")

    def __init__(self, tensor: DenseHostTensor) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "data": (tensor.address, True),  # read-only
            "shape": tensor.shape.sizes,
            "typestr": tensor.element_type.code,
            "version": 3,
        }


def _tensor_in(value: int) -> DenseHostTensor:
    return DenseHostTensor.of_handle(TensorHandle.sharing(Value.at(value).payload))


READERS[at.TYPE_TENSOR] = _tensor_in
READERS[at.TYPE_SHAPE] = lambda value: known_shape(sizes_at(Value.at(value).payload))
ENCODERS[DenseHostTensor] = (
    at.TYPE_TENSOR,
    lambda tensor: (tensor._handle or tensor.handle).address,
)
FACES[DenseHostTensor] = lambda tensor: tensor.shared


_WORDS = {"i1": "bool", "index": "i64"}
_ELEMENT_TYPES = {element.word: element for element in ELEMENT_TYPES.values()}


@dataclass(frozen=True, slots=True)
class BufferType:
    """A buffer type of compiled code, such as `memref<?x4xf32>`: sizes and an element type.

    A size is None if the type does not specify it.
    """

    sizes: tuple[int | None, ...]
    element_type: ElementType

    def fits(self, tensor: DenseHostTensor) -> bool:
        """Return whether a tensor has this type."""
        found = tensor.shape.sizes
        return (
            tensor.element_type == self.element_type
            and len(found) == len(self.sizes)
            and all(w in (None, size) for size, w in zip(found, self.sizes, strict=True))
        )


@functools.lru_cache(256)
def buffer_type(text: str) -> BufferType:
    """Parse the text inside the brackets of `memref<...>`: the sizes, then the element type."""
    match = re.fullmatch(r"((?:(?:\?|\d+)x)*)(\w+)", text)
    assert match is not None, text
    sizes = [None if size == "?" else int(size) for size in match[1].split("x")[:-1]]
    return BufferType(tuple(sizes), _ELEMENT_TYPES[_WORDS.get(match[2], match[2])])
