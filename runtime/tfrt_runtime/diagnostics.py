"""An error is a value with a place.

A `Diagnostic` says what went wrong, where, and what to do.  The compiler makes them while it reads a
program, the runtime while it runs one; it travels inside an error AsyncValue, is printed by the
command line with a caret, and is drawn by the notebook under the cell's own line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is, in MLIR's words."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A span in a source.  Lines and columns count from 1; `end_column` is one past the last.

    A location that names only a point (as in a BEF file) ends where it starts; it may have a 0 where
    nobody knows.
    """

    source: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0

    def __post_init__(self) -> None:
        if self.end_line == 0:
            object.__setattr__(self, "end_line", self.line)
        if self.end_column == 0:
            object.__setattr__(self, "end_column", self.column)

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class OpaqueLocation:
    """A place that is not in a file: a name, a call site, several places, or unknown, as text."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


AnyLocation = Location | OpaqueLocation


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.  `notes` are diagnostics of severity NOTE that explain this one."""

    severity: Severity
    message: str
    location: AnyLocation | None = None
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        place = "<unknown>:0" if self.location is None else str(self.location)
        return f"{place}: {self.severity}: {self.message}"


def error(
    message: str, location: AnyLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """A Diagnostic of severity ERROR."""
    return Diagnostic(Severity.ERROR, message, location, tuple(notes))


def note(message: str, location: AnyLocation | None = None) -> Diagnostic:
    """A Diagnostic of severity NOTE, to hang on another one."""
    return Diagnostic(Severity.NOTE, message, location)


class TfrtError(Exception):
    """What every user's mistake is raised as: one or more diagnostics, the first one decisive."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)
