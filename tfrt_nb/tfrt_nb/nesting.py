"""How large a program may be, how deep its regions may nest, and the stack that this takes.

xDSL's parser, verifier and printer call themselves for each region in a region.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfrt_runtime.diagnostics import TfrtError, error

MAX_FILE = 96 << 20
"""The most bytes of a file that is read: a BEF file may hold large tensors."""
MAX_TEXT, MAX_LINES = 32 << 20, 200_000
"""The most characters and lines of a program's source."""
# With pointers of 32 bits, in a page, a few thousand frames fit on the stack of the browser, whose
# end is that of the interpreter.
MAX_NESTING = 1_024 if sys.maxsize > 1 << 32 else 64
TOO_DEEP = f"regions nest more than {MAX_NESTING} deep"

_FRAMES = 40 * MAX_NESTING
"""The frames of the deepest programs: a region takes a dozen, the names of its types a few."""

_lock = threading.RLock()  # code that ends may be collected within
_users = 0
_limit_before = 0


def too_large(name: str, size: int, lines: int = 0) -> TfrtError:
    """The error for source of `size` bytes, of which `lines` are known to be too many if not 0."""
    found = f"{lines} lines" if lines else f"{size} bytes"
    text = f"'{name}' is too large for a program: {found}; the limits are {MAX_TEXT} bytes and {MAX_LINES} lines"  # noqa: E501
    return TfrtError(error(text))


@contextmanager
def deep_stack() -> Iterator[None]:
    """Inside, Python's recursion limit is high enough for the deepest programs.

    The limit is that of all threads, so the last one that leaves restores it.
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
