"""Memory of tensors: reference-counted, and seen by numpy without a copy.

It is that of a tensor of the native core (`native.tensors`), of an allocator, or of a numpy array.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np

from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.allocator import MAXIMUM_ALIGNMENT, HostAllocator
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import WORDS, Tensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, AnyArray, ElementType
from tfrt_runtime.native import layouts as at

ELEMENT_NUMBERS: Final = {
    element.dtype: SCALAR_TYPES["i1" if element.dtype is DType.I1 else element.word]
    for element in ELEMENT_TYPES.values()
}
ELEMENTS: Final = {number: ELEMENT_TYPES[dtype] for dtype, number in ELEMENT_NUMBERS.items()}


class TensorHandle:
    """One reference to the native tensor at `address`, dropped when the object dies."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        """Takes ownership of a reference."""
        self.address = address

    @classmethod
    def sharing(cls, address: int) -> TensorHandle:
        """With a reference of its own."""
        native_process().quick.add_tensor_reference(address)
        return cls(address)

    @classmethod
    def over(
        cls, element_type: ElementType, sizes: tuple[int, ...], count: int, owner: HostBuffer
    ) -> TensorHandle:
        """A new native tensor over the elements in `owner`, which lives as long as it."""
        process = native_process()
        make = process.quick.tensor_over
        number, rank = ELEMENT_NUMBERS[element_type.dtype], len(sizes)
        handle, data = process.objects.add(owner), owner.address
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
        """The native tensor; it lives as long as the handle."""
        return Tensor.at(self.address)


def sizes_at(tensor: int) -> tuple[int, ...]:
    """The sizes of a native tensor or shape."""
    first = (tensor + at.TENSOR_SIZES) >> 3
    return tuple(WORDS[first : first + Tensor.at(tensor).rank])


def shape_words(element: ElementType, sizes: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The words that native kernels take for a new tensor: element type and size, then a tensor's
    words.
    """
    words = [0] * (at.TENSOR_SIZES // 8)
    words[at.TENSOR_RANK // 8], words[at.TENSOR_COUNT // 8] = len(sizes), count
    return (ELEMENT_NUMBERS[element.dtype], element.size, *words, *sizes)


class HostBuffer:
    """`size` bytes at `address`, which live as long as this buffer, its slices and their arrays.

    The bytes are shared: each slice or array of the buffer sees what the others write.
    """

    __slots__ = ("_kept", "_memory", "_offset", "address", "size")

    def __init__(self, memory: Memory, address: int, offset: int, size: int) -> None:
        """The `size` bytes from `offset` on of `memory`, which starts at `address`."""
        self._memory = memory
        self._offset = offset
        self.address = address + offset
        self.size = size

    @classmethod
    def allocate(cls, allocator: HostAllocator, size: int, alignment: int) -> HostBuffer | None:
        """New bytes of unknown content; None if the allocator refuses.

        Raises:
            ValueError: if `size` or `alignment` cannot be meant.
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
        """Whether nothing may write the bytes: they are those of a read-only array, which is not
        copied.
        """
        return isinstance(self._memory, np.ndarray) and not self._memory.flags.writeable

    def become_own(self) -> None:
        """Go on as a copy of the bytes, if they are those of a read-only array.

        That stays alive, as kernels on other threads may still read it.
        """
        if self.is_read_only:
            copy = self.array(ELEMENT_TYPES[DType.UI8], (self.size,)).copy()
            self._kept: object = getattr(self, "_kept", None), self._memory
            self._memory, self._offset, self.address = copy, 0, copy.__array_interface__["data"][0]

    @classmethod
    def of_tensor(cls, handle: TensorHandle) -> HostBuffer:
        """The memory of a native tensor."""
        tensor = handle.tensor
        if tensor.owner:
            owner = native_process().objects.get(tensor.owner)
            assert isinstance(owner, HostBuffer)
            return owner
        memory = _sized(NativeMemory, tensor.bytes.bit_length()).from_address(tensor.data)
        memory.handle = handle
        return cls(memory, tensor.data, 0, tensor.bytes)

    @classmethod
    def over(cls, array: AnyArray) -> HostBuffer:
        """The memory of `array`, which is C-contiguous."""
        size = array.nbytes
        if size == 0 or not array.flags.writeable:
            return cls(array, array.__array_interface__["data"][0], 0, size)
        # In a quarter of the time, where ctypes may write.  (An array has a buffer; its stub does
        # not say so.)
        memory: Any = array
        return cls(array, ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0, size)

    def slice(self, offset: int, size: int) -> HostBuffer:
        """The `size` bytes from `offset` on, shared with this buffer.

        Raises:
            ValueError: if they are not all in this buffer.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(
                f"bytes {offset} to {offset + size} are not within a buffer of {self.size} bytes"
            )
        return HostBuffer(self._memory, self.address - self._offset, self._offset + offset, size)

    def array(self, element_type: ElementType, sizes: tuple[int, ...]) -> AnyArray:
        """The first bytes as an array.  The caller has checked that there are enough of them."""
        # numpy keeps the memory for as long as there is a view of the array.  (It takes any object
        # with a buffer; its stub names only a few.)
        memory: Any = self._memory
        return np.ndarray(sizes, element_type.storage, memory, self._offset)

    def __str__(self) -> str:
        return f"HostBuffer<pointer=0x{self.address:x}, size={self.size}>"


class NativeMemory(ctypes.Array[ctypes.c_char]):
    """Bytes of a native tensor as an object with a buffer; they live as long as it."""

    _type_ = ctypes.c_char
    _length_ = 0
    handle: TensorHandle


class AllocatedMemory(ctypes.Array[ctypes.c_char]):
    """Bytes of an allocator as an object with a buffer; freed with the last reference."""

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
    """Memory for sizes of `bits` bits.  Few types serve all sizes: ctypes never frees one.

    Such an object seems larger than the memory is; `HostBuffer` knows the size.
    """
    return type(kind.__name__, (kind,), {"_length_": 1 << bits})
