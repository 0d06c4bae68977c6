"""Reading and writing native memory from Python.

`WORDS[address >> 3]` is the word at `address`: arrays that start at address 0 and never end, because
indexing one is several times faster than `from_address`.  A wrong address ends the process, so only
the host package uses these, on addresses that the native core gave.
"""

from __future__ import annotations

import ctypes

WORDS = (ctypes.c_int64 * (1 << 59)).from_address(0)
HALVES = (ctypes.c_int32 * (1 << 60)).from_address(0)
FLOATS = (ctypes.c_float * (1 << 60)).from_address(0)
DOUBLES = (ctypes.c_double * (1 << 59)).from_address(0)


def signed(word: int) -> int:
    """The low 64 bits of `word` in two's complement, as `WORDS` wants them."""
    return (word + 2**63) % 2**64 - 2**63
