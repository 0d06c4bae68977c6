"""How a pass refuses a program: with a diagnostic at the operation that it cannot handle."""

from __future__ import annotations

from typing import NoReturn

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from tfrt_runtime.diagnostics import Location, TfrtError, error


class PassError(TfrtError):
    """A program that is valid but that a pass cannot transform."""


def fail(op: Operation, message: str) -> NoReturn:
    """Raise `PassError` at the place of `op` in the source."""
    raise PassError(error(message, location_of(op)))


def location_of(op: Operation) -> Location | None:
    """Where in the source the operation comes from, if that is known."""
    return _file_location(op.location)


def _file_location(location: object) -> Location | None:
    if isinstance(location, Location):
        return location
    if isinstance(location, FileLineColLoc):
        return Location(location.filename.data, location.line.data, location.column.data)
    # Of a name around it, or of a place in a text that the source parser has given.
    inner = getattr(location, "location", None)
    return None if inner is None else _file_location(inner)
