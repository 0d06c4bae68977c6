"""Names in the text of an LLVM module. Using them does not import xDSL."""

from __future__ import annotations

import functools
import re

from tfrt_runtime.bef.wire import bytes_of

INTERRUPT_FLAG = "@tfrtInterruptFlag"
"""The name of a pointer to the word that is not 0 while some run is cancelled.

The loader sets the pointer.
"""

_MATHEMATICS = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 exp exp2 exp10 expm1 log log2 log10 log1p "  # noqa: E501
    "sqrt cbrt pow erf floor ceil trunc round roundeven rint nearbyint fmod fmin fmax fma ldexp sincos"  # noqa: E501
)
LIBRARY = frozenset(
    {
        *(f"{name}{suffix}" for name in _MATHEMATICS.split() for suffix in ("", "f")),
        *("aligned_alloc", "free", "memcpy", "memmove", "memset", "bcmp"),
        # Functions on integers of 128 bits, and on floats of 16 bits
        *(f"__{name}ti3" for name in ("div", "udiv", "mod", "umod", "mul")),
        *(f"__fix{sign}{short}ti" for short in ("hf", "sf", "df") for sign in ("", "uns")),
        *(f"__float{sign}ti{short}" for short in ("hf", "sf", "df") for sign in ("", "un")),
        *("__truncsfhf2", "__truncdfhf2", "__extendhfsf2"),
    }
)
"""Functions in the C library and the compiler's library to which LLVM may add calls."""


@functools.lru_cache(maxsize=1024)
def text_constant(text: bytes) -> tuple[str, str]:
    """Return the LLVM type and value of a constant that holds the bytes."""
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text
    )
    return f"[{len(text)} x i8]", f'c"{escaped}"'


def global_symbol(name: str) -> str:
    """Return the symbol of a global whose name may be any string."""
    # LLVM has the same escapes in quoted names as in constants, which start with a "c".
    _, constant_text = text_constant(bytes_of(name))
    return f"@{constant_text[1:]}"


def plain_name(name: str) -> str:
    """Return a name whose characters every part of LLVM accepts; distinct names stay distinct."""
    return re.sub(rb"[^\w.$]", lambda found: b"-%02X" % found[0][0], bytes_of(name)).decode()


def adapter_name(symbol: str) -> str:
    """Return the name of the adapter of the MLIR function `symbol`; see `adapters`."""
    return f"__kernel_{plain_name(symbol)}"
