"""How a pass refuses a program: with a diagnostic at the operation that it cannot handle."""

from __future__ import annotations

from typing import NoReturn, Protocol, runtime_checkable

from xdsl.dialects.builtin import FileLineColLoc, NameLoc
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


@runtime_checkable
class _Placed(Protocol):
    """A location that the source parser gives to operations."""

    @property
    def location(self) -> object: ...


def _file_location(location: object) -> Location | None:
    match location:
        case Location():
            return location
        case FileLineColLoc():
            return Location(location.filename.data, location.line.data, location.column.data)
        case NameLoc() | _Placed():
            return _file_location(location.location)
        case _:
            return None
