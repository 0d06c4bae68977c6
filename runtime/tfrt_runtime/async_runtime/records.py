"""Records in the memory of compiled code: a text, and the place that it is about."""

from __future__ import annotations

import ctypes

from tfrt_runtime.diagnostics import Diagnostic, Location, error

UNKNOWN = "an async operation failed"


class _Record(ctypes.Structure):
    """As the compiler writes it; line 0 is no place."""

    _fields_ = (
        ("text", ctypes.c_int64),
        ("length", ctypes.c_int64),
        ("file", ctypes.c_int64),
        ("file_length", ctypes.c_int64),
        ("line", ctypes.c_int64),
        ("column", ctypes.c_int64),
    )


def read_text(record: int) -> str:
    """What the record says."""
    found = _Record.from_address(record)
    return _string(found.text, found.length)


def read_place(record: int) -> Location | None:
    """The place that the record names."""
    found = _Record.from_address(record)
    if found.line <= 0:
        return None
    return Location(_string(found.file, found.file_length), found.line, found.column)


def read_error(record: int) -> Diagnostic:
    """An error with the record's text and place; 0 is no record."""
    return error(read_text(record), read_place(record)) if record else error(UNKNOWN)


def _string(start: int, length: int) -> str:
    return ctypes.string_at(start, length).decode(errors="replace")
