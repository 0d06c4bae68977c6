"""Tables of words in native memory, and the payloads of values; structs have views in `structs`.

`WORDS[address >> 3]` is the word at `address`: arrays that start at address 0 and never end.  A wrong address
ends the process: addresses come from the native core.
"""

from __future__ import annotations

import ctypes

WORDS = (ctypes.c_int64 * (1 << 59)).from_address(0)
HALVES = (ctypes.c_int32 * (1 << 60)).from_address(0)
FLOATS = (ctypes.c_float * (1 << 60)).from_address(0)
DOUBLES = (ctypes.c_double * (1 << 59)).from_address(0)


def words_at(address: int, count: int) -> list[int]:
    """So many words from an address on."""
    first = address >> 3
    return WORDS[first : first + count]


def new_words(size: int) -> ctypes.Array[ctypes.c_int64]:
    """`size` bytes of zeroed native memory that start on a cache line; they live as long as the array."""
    raw = (ctypes.c_int64 * (size // 8 + 8))()
    return (ctypes.c_int64 * (size // 8)).from_buffer(raw, -ctypes.addressof(raw) % 64)


def signed(word: int) -> int:
    """The low 64 bits of `word` in two's complement, as `WORDS` wants them."""
    return (word + 2**63) % 2**64 - 2**63
