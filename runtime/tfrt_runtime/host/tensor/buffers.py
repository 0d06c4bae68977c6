"""Reference-counted memory that numpy sees without a copy."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from tfrt_runtime.host.allocator import MAXIMUM_ALIGNMENT, HostAllocator
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.tensor.element_types import AnyArray, ElementType
from tfrt_runtime.host.tensor.handles import NativeMemory, TensorHandle, memory_at


class HostBuffer:
    """`size` bytes at `address`, which live as long as this buffer, its slices and their arrays.

    The bytes are shared: each slice or array of the buffer sees what the others write.
    """

    __slots__ = ("_memory", "_offset", "address", "size")

    def __init__(self, memory: AnyMemory, address: int, offset: int, size: int) -> None:
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
        return cls.adopt(allocator, address, size)

    @classmethod
    def adopt(cls, allocator: HostAllocator, address: int, size: int) -> HostBuffer:
        """Bytes that were allocated already; `allocator` gets them back."""
        memory = _memory_type(size.bit_length()).from_address(address)
        memory.owed = allocator, address, size
        return cls.sharing(memory)

    @classmethod
    def sharing(cls, memory: Memory) -> HostBuffer:
        """All bytes of memory that an allocator has given."""
        _, address, size = memory.owed
        return cls(memory, address, 0, size)

    @property
    def memory(self) -> AnyMemory:
        """What the bytes live as long as."""
        return self._memory

    @classmethod
    def of_tensor(cls, handle: TensorHandle) -> HostBuffer:
        """The memory of a native tensor."""
        tensor = handle.tensor
        if tensor.owner:
            owner = native_process().objects.get(tensor.owner)
            assert isinstance(owner, HostBuffer)
            return owner
        memory = memory_at(tensor.data, tensor.bytes, handle)
        return cls(memory, tensor.data, 0, tensor.bytes)

    @classmethod
    def over(cls, array: AnyArray) -> HostBuffer:
        """The memory of `array`, which is C-contiguous."""
        size = array.nbytes
        if size == 0 or not array.flags.writeable:
            return cls(array, array.ctypes.data, 0, size)
        # In a quarter of the time, where ctypes may write.  (An array has a buffer; its stub does not say so.)
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


class Memory(ctypes.Array[ctypes.c_char]):
    """Bytes of an allocator as an object with a buffer; given back with the last reference."""

    _type_ = ctypes.c_char
    _length_ = 0
    owed: tuple[HostAllocator, int, int]

    def __del__(self) -> None:
        allocator, address, size = self.owed
        allocator.deallocate_bytes(address, size)


AnyMemory = Memory | NativeMemory | AnyArray


@cache
def _memory_type(bits: int) -> type[Memory]:
    """For sizes of `bits` bits.  Few types serve all sizes: ctypes never frees one.

    Such an object seems larger than the memory is; `HostBuffer` knows the size.
    """

    class SizedMemory(Memory):
        _length_ = 1 << bits

    return SizedMemory
