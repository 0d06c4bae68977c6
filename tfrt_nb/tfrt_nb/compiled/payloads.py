"""Python values as the bytes that compiled code takes and gives.

Numbers have the layout of LLVM's types.  A memref is given as a numpy array or a tensor, without a copy,
and comes back as an array (`arrays`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute

from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.payload import PayloadError

POINTER_SIZE = 8

_FLOATS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("e", "float16"),
    Float32Type: ("f", "float32"),
    Float64Type: ("d", "float64"),
}


@dataclass(frozen=True, slots=True)
class Payload:
    """How values of a type cross the border: `size` bytes.

    `encode` raises PayloadError for what does not fit; what it returns refers to memory of the object
    that it was given, where the type is a memref.
    """

    size: int
    encode: Callable[[object], bytes]
    decode: Callable[[bytes], object]


def payload_of(type_: Attribute) -> Payload | None:
    """How values of a type cross; None if they cannot."""
    match type_:
        case TokenType():
            return Payload(0, _refuse("a token"), lambda _: CHAIN)
        case IntegerType():
            return _integer(str(type_), type_.width.data)
        case IndexType():
            return _integer("index", 64)
        case BFloat16Type():
            return Payload(2, _encode_bfloat16, _decode_bfloat16)
        case MemRefType():
            return _buffer(type_)
        case _ if type(type_) in _FLOATS:
            return _float(str(type_), _FLOATS[type(type_)][0])
        case _:
            return None


def element_of(type_: Attribute) -> Attribute | None:
    """What an async object of a type holds; None for types of other values."""
    match type_:
        case TokenType():
            return type_
        case ValueType():
            return type_.value_type
        case _:
            return None


def is_group(type_: Attribute) -> bool:
    """Whether values of the type are groups, of which nobody outside knows anything."""
    return isinstance(type_, GroupType)


def _refuse(what: str) -> Callable[[object], bytes]:
    def encode(_: object) -> bytes:
        raise PayloadError(f"{what} cannot be given from outside")

    return encode


def _integer(name: str, width: int) -> Payload:
    size, modulus = (width + 7) // 8, 1 << width
    lowest, above = (0, 2) if width == 1 else (-modulus // 2, modulus // 2)

    def encode(value: object) -> bytes:
        if not hasattr(value, "__index__"):
            raise PayloadError(f"expected {name}, found {type(value).__name__}")
        number: int = value.__index__()
        if not lowest <= number < above:
            raise PayloadError(f"{number} does not fit in {name}")
        return (number % modulus).to_bytes(size, "little")

    def decode(data: bytes) -> object:
        number = int.from_bytes(data, "little") % modulus
        if width == 1:
            return bool(number)
        return number - modulus if number >= above else number

    return Payload(size, encode, decode)


def _float(name: str, code: str) -> Payload:
    def encode(value: object) -> bytes:
        number = _as_float(name, value)
        try:
            return struct.pack(f"<{code}", number)
        except OverflowError:  # struct refuses what C rounds to infinity
            return struct.pack(f"<{code}", float("inf") if number > 0 else float("-inf"))

    return Payload(struct.calcsize(code), encode, lambda data: struct.unpack(f"<{code}", data)[0])


def _as_float(name: str, value: object) -> float:
    if not hasattr(value, "__float__"):
        raise PayloadError(f"expected {name}, found {type(value).__name__}")
    return float(value)


def _encode_bfloat16(value: object) -> bytes:
    bits = int.from_bytes(struct.pack("<f", _as_float("bf16", value)), "little")
    rounded = bits + 0x7FFF + (bits >> 16 & 1)
    return (rounded >> 16 & 0xFFFF).to_bytes(2, "little")


def _decode_bfloat16(data: bytes) -> object:
    return struct.unpack("<f", b"\0\0" + data)[0]


def dtype_name(type_: Attribute) -> str | None:
    """What numpy calls the elements of a buffer."""
    match type_:
        case IndexType():
            return "int64"
        case IntegerType() if type_.width.data in (8, 16, 32, 64):
            return f"int{type_.width.data}"
        case IntegerType() if type_.width.data == 1:
            return "bool"
        case _ if type(type_) in _FLOATS:
            return _FLOATS[type(type_)][1]
        case _:
            return None


def _buffer(type_: MemRefType[Attribute]) -> Payload | None:
    name = dtype_name(type_.get_element_type())
    if name is None:
        return None
    shape = tuple(type_.get_shape())

    def encode(value: object) -> bytes:
        # Here, because it takes as long to load as all else, and most programs take no buffers.
        import numpy as np

        from tfrt_runtime.async_runtime.handles import lent_handle

        if hasattr(value, "__array__") and not isinstance(value, np.generic):
            value = np.asarray(value)
        if not isinstance(value, np.ndarray) or value.dtype != np.dtype(name):
            kind = (
                f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            )
            raise PayloadError(f"expected an array of {name} for {type_}, found {kind}")
        if not _fits(value.shape, shape) or not value.flags.c_contiguous:
            raise PayloadError(f"expected a contiguous array for {type_}, found {value.shape}")
        strides = [stride // value.itemsize for stride in value.strides]
        words = lent_handle(value), value.ctypes.data, 0, *value.shape, *strides
        return struct.pack(f"<{len(words)}q", *words)

    def decode(data: bytes) -> object:
        from tfrt_nb.compiled.arrays import returned_array

        return returned_array(data, name, len(shape), ())

    return Payload(8 * (3 + 2 * len(shape)), encode, decode)


def _fits(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(found) == len(wanted) and all(
        expected in (size, DYNAMIC_INDEX) for size, expected in zip(found, wanted, strict=True)
    )
