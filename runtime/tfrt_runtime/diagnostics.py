"""Diagnostics: errors as values with a source location.

A `Diagnostic` says what went wrong, where, and what to do.  The compiler makes diagnostics while it
reads a program, and the runtime makes them while it runs a program.  An error AsyncValue contains
its diagnostic.  The command line prints a diagnostic with a caret, and a notebook shows it under
the cell's line.

Python code has locations, too: `caller` is the user's line that called into these packages.
"""

from __future__ import annotations

import math
import numbers
import re
import reprlib
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from types import CodeType, FrameType
from typing import NoReturn

from tfrt_runtime.hooks import HOOKS


class Severity(StrEnum):
    """The severity, in MLIR's words."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A span in a source.

    Lines and columns count from 1, and 0 means unknown.  `end_column` is one past the last column.
    A location that is a single point (as in a BEF file) ends where it starts.
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
        cell = HOOKS.cell_of(self.source)
        return (
            line_of(self.source, self.line) if cell else f"{self.source}:{self.line}:{self.column}"
        )


def line_of(source: str, line: int) -> str:
    """Return the name of a line in messages: in a notebook, `Cell In[2], line 9`."""
    cell = HOOKS.cell_of(source)
    return f"{cell}, line {line}" if cell else f"{source}:{line}"


@dataclass(frozen=True, slots=True)
class OpaqueLocation:
    """A location that is not a span in a file.

    `text` is a name, a call site, or several locations, or says that the location is unknown.
    """

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


AnyLocation = Location | OpaqueLocation

_LONG_WORD = re.compile(r"\S{300,}")


class Ending(StrEnum):
    """How the run or value that a message describes ended."""

    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    BROKEN = "broken"
    """Nothing can resolve the value anymore."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.  `notes` are diagnostics of severity NOTE that explain the message.

    `cause` is the exception of a Python kernel that the message reports, or None.  `fix` is an edit
    that editors can apply: a part of the line, and its replacement.  The fix of a note applies to
    the line of the diagnostic that the note explains.  `others` are the errors of all calls
    of a mapped function, if this is the function's error.
    """

    severity: Severity
    message: str
    location: AnyLocation | None = None
    notes: tuple[Diagnostic, ...] = ()
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    ending: Ending = Ending.FAILED
    fix: tuple[str, str] | None = field(default=None, compare=False)
    others: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        place = "" if self.location is None else f"{self.location}: "
        return f"{place}{self.severity}: {self.short_message}"

    @property
    def short_message(self) -> str:
        """The message, with very long words, such as nested types, shortened in the middle."""
        return _LONG_WORD.sub(lambda word: f"{word[0][:100]}...{word[0][-20:]}", self.message)


def error(
    message: str, location: AnyLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """Return a Diagnostic of severity ERROR."""
    return Diagnostic(Severity.ERROR, message, location, tuple(notes))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 argument`, `2 arguments`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def known_names(names: Sequence[str]) -> str:
    """Return a list of the names that exist: `defined functions: @f, @g`."""
    return f"defined functions: {', '.join(names) or 'none'}"


def meant(
    name: str, known: Iterable[str], otherwise: str = "", form: str = "{}", cutoff: float = 0.6
) -> str:
    """Return `did you mean X?`, where X is the nearest known name, formatted with `form`.

    If no name is near, return `otherwise`.
    """
    import difflib  # imported here, because only messages need it

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {form.format(near[0])}?" if near else otherwise


def note(
    message: str, location: AnyLocation | None = None, fix: tuple[str, str] | None = None
) -> Diagnostic:
    """Return a Diagnostic of severity NOTE, for the notes of another diagnostic."""
    return Diagnostic(Severity.NOTE, message, location, fix=fix)


def led_by(sentence: str, words: Diagnostic) -> Diagnostic:
    """Return a diagnostic with `sentence` as its message.

    Its note quotes `words`, a diagnostic from MLIR or TFRT.
    """
    first = note(words.message, words.location)
    return replace(words, message=sentence, notes=(first, *words.notes))


class TfrtError(Exception):
    """The exception for every user error.

    It has one or more diagnostics.  The first diagnostic is the most important one.

    If a Python kernel raised an exception, that exception is the `__cause__`.  The notes of the
    diagnostics are also notes of this exception, so that they appear at the end of a traceback.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics
        self.__cause__ = diagnostics[0].cause if diagnostics else None
        for diagnostic in diagnostics:
            for one in diagnostic.notes:
                self.add_note(str(one))

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class InternalError(TfrtError):
    """A defect in this toolkit rather than in the program.

    Users see a message without a traceback.  The test harness counts it as a failure.
    """


_KNOWN: dict[tuple[int, int], tuple[CodeType, Location]] = {}
"""Locations, by the code's id and the instruction.

Each entry keeps the code alive, so that the id stays unique.
"""
_MAX_KNOWN = 1 << 16
FOREVER = 1e9
"""The longest wait in seconds.  A longer wait would overflow the nanoseconds of system calls."""


def caller() -> FrameType | None:
    """Return this thread's innermost frame outside these packages."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in HOOKS.own_packages:
            break
        frame = frame.f_back
    return frame


def place_of_caller() -> Location | None:
    """Return the caller's current line, with the columns of its call."""
    frame = caller()
    return None if frame is None else place_of_frame(frame)


def place_of_frame(frame: FrameType) -> Location:
    """Return a frame's current line, with the columns of its call."""
    code = frame.f_code
    key = id(code), frame.f_lasti
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = code, place_of_code(code, frame.f_lasti, frame.f_lineno)
    return known[1]


def place_of_code(code: CodeType, instruction: int, line_of_frame: int = 1) -> Location:
    """Return the location of an instruction.

    If the instruction's line is unknown, the line is `line_of_frame`.
    """
    positions = islice(code.co_positions(), max(instruction, 0) // 2, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    if line is None:
        return Location(code.co_filename, line_of_frame, 1)
    if column is None or end_line is None or end_column is None:
        return Location(code.co_filename, line, 1)
    return Location(code.co_filename, line, column + 1, end_line, end_column + 1)


def refuse(message: str) -> NoReturn:
    """
    Raises:
        TfrtError: always, located at the caller's line.
    """
    raise TfrtError(error(message, place_of_caller()))


def require(is_right: bool, what: str, expected: str, found: object) -> None:
    """Raise an error unless `is_right`, because the argument `what` must be `expected`.

    Raises:
        TfrtError: at the line of the caller.
    """
    if not is_right:
        refuse(f"{what} must be {expected}, found {reprlib.repr(found)}")


def require_column(column: object) -> None:
    """Reject a column of values (of a batch) that has no length.

    Raises:
        TfrtError: at the line of the caller.
    """
    try:
        len(column)  # type: ignore[arg-type]
    except TypeError:  # a zero-dimensional array also raises it
        require(False, "a column", "a sequence of values (wrap an iterator in list(...))", column)


def deadline_in(timeout: float | None) -> float | None:
    """Convert a number of seconds from now to a `time.monotonic` time; None means never.

    Raises:
        TfrtError: if `timeout` is not a number; located at the caller's line.
    """
    if timeout is None:
        return None
    is_number = isinstance(timeout, numbers.Real) and not isinstance(timeout, bool)
    # Compare before converting, because an integer may be too large for a float.
    # If `timeout` is a NaN, so is the result of `min`, because every comparison with it is false.
    seconds = float(min(timeout, FOREVER)) if is_number else math.nan
    require(not math.isnan(seconds), "timeout", "a number of seconds or None", timeout)
    return time.monotonic() + seconds


def seconds_until(deadline: float | None) -> float | None:
    """Return the seconds until a `time.monotonic` time, or 0 if that time has passed.

    None means never.
    """
    return None if deadline is None else max(0.0, deadline - time.monotonic())
