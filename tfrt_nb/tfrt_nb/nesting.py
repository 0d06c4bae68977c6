"""How large a program may be, how deep its regions may nest, and the stack that this takes.

xDSL's parser, verifier and printer call themselves for each region in a region.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfrt_runtime.diagnostics import TfrtError, error

MAX_TEXT = 32 << 20
"""The most bytes of a program's text; half a million operations take less."""
MAX_PLAIN_TEXT, MAX_PLAIN_LINES = 96 << 20, 3 << 19
"""The most bytes and lines of one that is read line by line; a million operations take less."""
MAX_NESTING = 1_024
TOO_DEEP = f"regions nest more than {MAX_NESTING} deep"

_FRAMES = 40 * MAX_NESTING
"""The frames of the deepest programs: a region takes a dozen, the names of its types a few."""

_lock = threading.Lock()
_users = 0
_limit_before = 0


def too_large(name: str, size: int) -> TfrtError:
    """The refusal of a text of `size` bytes."""
    text = (
        f"'{name}' is too large for a program: {size} bytes, of at most {MAX_TEXT},"
        f" or {MAX_PLAIN_TEXT} in {MAX_PLAIN_LINES} lines of a plain operation each"
    )
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
