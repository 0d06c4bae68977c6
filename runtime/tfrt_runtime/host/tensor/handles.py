"""Python's hold on tensors of the native core (`native.tensors`)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import WORDS, Tensor
from tfrt_runtime.host.tensor.element_types import ELEMENT_TYPES, ElementType
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
        cls, element_type: ElementType, sizes: tuple[int, ...], count: int, data: int, owner: object
    ) -> TensorHandle:
        """A new native tensor over the elements at address `data`, which live as long as `owner`."""
        process = native_process()
        make = process.quick.tensor_over
        number, rank = ELEMENT_NUMBERS[element_type.dtype], len(sizes)
        handle = process.objects.add(owner)
        address = make(process.spare_context(), process.store, number, rank, count, data, handle)
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
    """What native kernels take for a new tensor: element type and size, then a tensor's words."""
    words = [0] * (at.TENSOR_SIZES // 8)
    words[at.TENSOR_RANK // 8], words[at.TENSOR_COUNT // 8] = len(sizes), count
    return (ELEMENT_NUMBERS[element.dtype], element.size, *words, *sizes)


class NativeMemory(ctypes.Array[ctypes.c_char]):
    """Bytes of a native tensor as an object with a buffer; they live as long as it."""

    _type_ = ctypes.c_char
    _length_ = 0
    handle: TensorHandle


def memory_at(address: int, size: int, handle: TensorHandle) -> NativeMemory:
    """The memory of a native tensor that has no owner in Python."""
    memory = _memory_type(size.bit_length()).from_address(address)
    memory.handle = handle
    return memory


@cache
def _memory_type(bits: int) -> type[NativeMemory]:
    """For sizes of `bits` bits; seems larger than the memory is."""

    class SizedMemory(NativeMemory):
        _length_ = 1 << bits

    return SizedMemory
