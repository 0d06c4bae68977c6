"""Bits and bytes of a word: two's complement, floats, and parts of a word (little-endian)."""

from __future__ import annotations

import struct

from tests.simulator.failures import Misaligned
from tests.simulator.heap import WORD, Heap

_FORMATS = {4: ("<f", "<I"), 8: ("<d", "<Q")}


def signed(value: int, bits: int = 64) -> int:
    """Wrap `value` to two's complement in `bits` bits."""
    half = 1 << bits - 1
    if -half <= value < half:
        return value
    return (value + half) % (2 * half) - half


def bits_of(value: float, size: int) -> int:
    """Return the bit pattern of a float of `size` bytes.

    A number that is too large for 32 bits is infinite.
    """
    as_float, as_integer = _FORMATS[size]
    try:
        packed = struct.pack(as_float, value)
    except OverflowError:
        packed = struct.pack(as_float, float("inf") if value > 0 else float("-inf"))
    bits: int = struct.unpack(as_integer, packed)[0]
    return bits


def float_of(bits: int, size: int) -> float:
    """Return the float of `size` bytes with this bit pattern."""
    as_float, as_integer = _FORMATS[size]
    value: float = struct.unpack(as_float, struct.pack(as_integer, bits))[0]
    return value


def byte_mask(shift: int, size: int) -> int:
    """Return a mask with one bit per byte of a word, set for `size` bytes from byte `shift` on."""
    return ((1 << size) - 1) << shift


def replace_bytes(word: int, shift: int, size: int, value: int) -> int:
    """Replace `size` bytes of `word`, from byte `shift` on, with those of `value`."""
    mask = ((1 << 8 * size) - 1) << 8 * shift
    return signed(word & ~mask | value << 8 * shift & mask)


def check_alignment(heap: Heap, address: int, size: int) -> int:
    """Return the offset, in its word, at which an access of `size` bytes starts.

    Raises:
        Misaligned: if the address is not a multiple of the size.
    """
    if address % size:
        raise Misaligned(f"access to {heap.name(address)}, which is not a multiple of {size}")
    return address % WORD
