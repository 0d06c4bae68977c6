"""Limits on a program's size and on the nesting of its regions, and the stack that nesting needs.

xDSL's parser, verifier, and printer call themselves for each nested region.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfrt_runtime.diagnostics import TfrtError, error

MAX_FILE = 96 << 20
"""The maximum size of a file in bytes. A BEF file may contain large tensors."""
MAX_TEXT, MAX_LINES = 32 << 20, 200_000
"""The maximum number of characters, and of lines, in the source of a program."""
# With 32-bit pointers, the program runs in a browser page, whose stack holds a few thousand frames.
# A stack overflow there crashes the interpreter.
MAX_NESTING = 1_024 if sys.maxsize > 1 << 32 else 64
TOO_DEEP = f"regions nest more than {MAX_NESTING} deep"

_FRAMES = 40 * MAX_NESTING
"""The number of frames that the deepest programs need.

Each region takes a dozen frames, and its types take a few more.
"""

_lock = threading.RLock()  # reentrant, because code may be garbage-collected while it is held
_users = 0
_limit_before = 0


def too_large(name: str, size: int, lines: int = 0) -> TfrtError:
    """Return the error for a source that is too large.

    The message states the number of lines or, if `lines` is 0, of bytes.
    """
    found = f"{lines} lines" if lines else f"{size} bytes"
    text = f"'{name}' is too large for a program: {found}; the limits are {MAX_TEXT} bytes and {MAX_LINES} lines"  # noqa: E501
    return TfrtError(error(text))


@contextmanager
def deep_stack() -> Iterator[None]:
    """Inside the block, raise Python's recursion limit to the depth that the deepest programs need.

    All threads share the limit, so the last thread to leave such a block restores the limit.
    """
    global _users, _limit_before
    with _lock:
        if _users == 0:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_before, _FRAMES))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setrecursionlimit(_limit_before)
