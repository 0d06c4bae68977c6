"""Read and write the memory of compiled programs, and describe number types.

A buffer is a tuple `(handle, address of the elements, offset, sizes, strides)`. The offset and the
strides count elements. `storage_of` contains the functions that convert a buffer to and from a
descriptor in memory. As for machine code, passes have inserted checks of indices and liveness, so
every address here belongs to the program.

A record says what failed, and where. It consists of words, and of strings that are kept alive, in
the format that `async_runtime.objects` reads.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute

from tfrt_nb.jit.llvm_types import UnsupportedType, llvm_type
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS
from tfrt_runtime.bef.wire import bytes_of
from tfrt_runtime.diagnostics import Location
from tfrt_runtime.host.structs import new_words
from tfrt_runtime.native.layouts import HANDLE_CONSTANT


def width_of(type_: Attribute) -> int:
    """Return the number of bits of an integer type, or 0 for other types."""
    if isinstance(type_, IntegerType):
        return int(type_.width.data)
    return 64 if isinstance(type_, IndexType) else 0


def is_float(type_: Attribute) -> bool:
    """Return whether a type is a float type."""
    return isinstance(type_, Float64Type | Float32Type | Float16Type | BFloat16Type)


def rounding(type_: Attribute) -> Callable[[float], float] | None:
    """Return the function that rounds a float to its type, or None for f64."""
    match type_:
        case Float64Type():
            return None
        case Float32Type():
            return to_single
        case Float16Type():
            return _to_half
        case BFloat16Type():
            return _to_brain
        case _:
            raise UnsupportedType(f"'{type_}' is not a type of compiled code")


def to_single(x: float) -> float:
    # Unlike `struct`, ctypes converts a number that is too large to infinity.
    return ctypes.c_float(x).value


def _to_half(x: float) -> float:
    try:
        return float(struct.unpack("<e", struct.pack("<e", x))[0])
    except OverflowError:
        # `struct` refuses a number that rounds to infinity.
        return math.copysign(math.inf, x)


def _to_brain(x: float) -> float:
    """Round a single that was rounded to odd, to nearest with ties to even; see `jit.compiler`."""
    single = ctypes.c_float(x).value
    bits = int.from_bytes(struct.pack("<f", single), "little")
    if math.isnan(x):
        return _brain_of(bits >> 16 | 64)
    if single != x:
        bits = bits - (abs(single) > abs(x)) | 1
    return _brain_of(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


def _brain_of(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0])


Buffer: TypeAlias = tuple[int, int, int, tuple[int, ...], tuple[int, ...]]

MEMORY = (ctypes.c_char * sys.maxsize).from_address(0)
"""The whole memory of the process, as bytes."""
_headers = new_words(64)
# The generation in both handles is 0, which equals the header of STATIC, but not that of DEAD.
_headers[1] = 1
STATIC = ctypes.addressof(_headers)
"""The handle of a buffer that cannot be freed while code that uses it runs."""
CONSTANT = STATIC + HANDLE_CONSTANT
"""The handle of a static buffer that a program must not change."""
DEAD = STATIC + 8
"""The handle of a buffer that never existed."""
_DESCRIPTOR_WORDS = 3


@dataclass(frozen=True, slots=True)
class Storage:
    """How a type's values are stored.

    `size` is the number of bytes. The other fields have functions that read and write values.
    """

    size: int
    read: Callable[[int], Any]
    """A function that reads the value at an address."""
    write: Callable[[int, Any], None]
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]
    format: str = ""
    """The type's `struct` format, or ""."""


@functools.cache
def storage_of(type_: Attribute) -> Storage:
    """Return the storage of a type's values.

    Raises:
        UnsupportedType: if compiled code does not support the type.
    """
    match type_:
        case MemRefType():
            return _descriptors(len(type_.get_shape()))
        case UnrankedMemRefType():
            return _descriptors(None)
        case Float64Type():
            return _of_format("<d")
        case Float32Type():
            return _of_format("<f")
        case Float16Type():
            return _of_format("<e")
        case BFloat16Type():
            return _brain(rounding(type_))
        case IntegerType() if llvm_type(type_) not in _INTEGERS:
            return _wide(int(type_.width.data))
        case IntegerType() | IndexType():
            return _of_format(_INTEGERS[llvm_type(type_)])
        case _ if llvm_type(type_) == "ptr":  # an object
            return _of_format("<q")
        case _:
            raise UnsupportedType(f"'{type_}' is not a type of stored values")


_INTEGERS = {"i1": "<?", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q"}


def _of_format(format_: str) -> Storage:
    form = struct.Struct(format_)
    read, write = form.unpack_from, form.pack_into
    return Storage(
        form.size,
        lambda address: read(MEMORY, address)[0],
        lambda address, value: write(MEMORY, address, value),
        form.pack,
        lambda data: form.unpack(data)[0],
        format_,
    )


def _in_bytes(size: int, pack: Callable[[Any], bytes], unpack: Callable[[bytes], Any]) -> Storage:
    def write(address: int, value: Any) -> None:
        ctypes.memmove(address, pack(value), size)

    return Storage(
        size,
        lambda address: unpack(ctypes.string_at(address, size)),
        write,
        pack,
        unpack,
    )


def _brain(round_: Callable[[float], float] | None) -> Storage:
    """Return the storage of a bf16, which is the upper half of a single."""
    single = struct.Struct("<f")
    assert round_ is not None
    return _in_bytes(
        2,
        lambda value: single.pack(round_(value))[2:],
        lambda data: single.unpack(b"\0\0" + data)[0],
    )


def _wide(width: int) -> Storage:
    """Return the storage of an integer of any width.

    The storage has 1, 2, 4, or 8 bytes, or else a multiple of 16 bytes.
    """
    needed = (width + 7) // 8
    size = (needed + 15) & -16 if needed > 8 else 1 << (needed - 1).bit_length()
    half, mask = 1 << (width - 1), (1 << width) - 1

    def unpack(data: bytes) -> int:
        return ((int.from_bytes(data, "little") & mask) ^ half) - half

    return _in_bytes(size, lambda value: (value & mask).to_bytes(size, "little"), unpack)


def _descriptors(rank: int | None) -> Storage:
    """Return the storage of buffer descriptors.

    The rank comes first if the type does not state it.
    """
    room = MAX_DIMENSIONS if rank is None else rank
    count = _DESCRIPTOR_WORDS + 2 * room + (rank is None)
    words = struct.Struct(f"<{count}q")

    def pack(buffer: Buffer) -> bytes:
        return words.pack(*descriptor_words(buffer, rank))

    def unpack(data: bytes) -> Buffer:
        found = words.unpack(data)
        dimensions = rank
        if dimensions is None:
            dimensions, *found = found  # type: ignore[assignment]
        handle, elements, offset, *numbers = found
        return (
            handle,
            elements,
            offset,
            tuple(numbers[:dimensions]),
            tuple(numbers[room : room + dimensions]),
        )

    return _in_bytes(words.size, pack, unpack)


def descriptor_words(buffer: Buffer, rank: int | None) -> list[int]:
    """Return the words of a descriptor. `rank` is None if the type does not state the rank."""
    handle, elements, offset, sizes, strides = buffer
    padding = [0] * (MAX_DIMENSIONS - len(sizes)) if rank is None else []
    first = [len(sizes)] if rank is None else []
    return [*first, handle, elements, offset, *sizes, *padding, *strides, *padding]


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of elements in row-major order."""
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides[: len(sizes)]))


@dataclass
class Records:
    """The records of a program, and everything else that must exist as long as its code."""

    kept: list[object] = field(default_factory=list)
    _records: dict[object, int] = field(default_factory=dict)
    _texts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def words(self, *words: int) -> int:
        """Keep words in memory, and return their address."""
        made = new_words(8 * max(1, len(words)))
        made[: len(words)] = words  # type: ignore[call-overload]
        self.kept.append(made)
        return ctypes.addressof(made)

    def text(self, content: str) -> tuple[int, int]:
        """Keep a string in UTF-8, and return its address and its length."""
        if content not in self._texts:
            data = bytes_of(content)
            kept = ctypes.create_string_buffer(data)
            self.kept.append(kept)
            self._texts[content] = ctypes.addressof(kept), len(data)
        return self._texts[content]

    def record(self, message: str, place: Location | None) -> int:
        """Keep a message and its place, and return the address of the record."""
        key = message, place
        if key not in self._records:
            file, line, column = (
                ("", 0, 0) if place is None else (place.source, place.line, place.column)
            )
            self._records[key] = self.words(*(*self.text(message), *self.text(file), line, column))
        return self._records[key]
