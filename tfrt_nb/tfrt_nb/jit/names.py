"""Names in the text of a module that other parts know, too.  Needs no IR."""

from __future__ import annotations

import functools
import re

INTERRUPT_FLAG = "@tfrtInterruptFlag"
"""Points to the word that is not 0 while some run is cancelled; the loader of the code says
where.
"""


@functools.lru_cache(maxsize=1024)
def text_constant(text: bytes) -> tuple[str, str]:
    """The type and the value of a constant that holds the bytes."""
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text
    )
    return f"[{len(text)} x i8]", f'c"{escaped}"'


def global_symbol(name: str) -> str:
    """A global of the module by its name, which may be any text."""
    _, constant_text = text_constant(bytes_of(name))
    return f"@{constant_text[1:]}"


def plain_name(name: str) -> str:
    """Another name for each name, of characters that every part of LLVM takes."""
    return re.sub(rb"[^\w.$]", lambda found: b"-%02X" % found[0][0], bytes_of(name)).decode()


def adapter_name(symbol: str) -> str:
    """The name of the adapter of the MLIR function `symbol`, by which kernels call it: see
    `adapters`.
    """
    return f"__kernel_{plain_name(symbol)}"


def bytes_of(text: str) -> bytes:
    """A text in UTF-8.  A byte that is none, as `"\\FF"` in a program, is that byte."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # half of a character of 16-bit text
        return text.encode(errors="surrogatepass")
