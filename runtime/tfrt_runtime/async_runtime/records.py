"""Records in the memory of compiled code: a text, and the place that it is about.

A record is `{ ptr text, i64 length, ptr file, i64 length, i64 line, i64 column }`; line 0 is no place.
"""

from __future__ import annotations

import ctypes

from tfrt_runtime.diagnostics import Diagnostic, Location, error
from tfrt_runtime.host.raw import WORDS

UNKNOWN = "an async operation failed"


def read_text(record: int) -> str:
    """What the record says."""
    return _string(record)


def read_place(record: int) -> Location | None:
    """The place that the record names."""
    line, column = WORDS[(record + 32) >> 3], WORDS[(record + 40) >> 3]
    return Location(_string(record + 16), line, column) if line > 0 else None


def read_error(record: int) -> Diagnostic:
    """An error with the record's text and place; 0 is no record."""
    return error(read_text(record), read_place(record)) if record else error(UNKNOWN)


def _string(field: int) -> str:
    start, length = WORDS[field >> 3], WORDS[(field + 8) >> 3]
    return ctypes.string_at(start, length).decode(errors="replace")
