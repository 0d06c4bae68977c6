"""An error is a value with a place.

A `Diagnostic` says what went wrong, where, and what to do.  The compiler makes them while it reads
a program, the runtime while it runs one; it travels inside an error AsyncValue, is printed by the
command line with a caret, and is drawn by the notebook under the cell's own line.

Python code has places, too: `caller` is the line of the user that called into these packages.
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
    """How bad it is, in MLIR's words."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Location:
    """A span in a source.  Lines and columns count from 1; `end_column` is one past the last.

    A location that names only a point (as in a BEF file) ends where it starts; a 0 means that
    the line or column is unknown.
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
    """A line of a source, as messages name it: `Cell In[2], line 9` in a cell of a notebook."""
    cell = HOOKS.cell_of(source)
    return f"{cell}, line {line}" if cell else f"{source}:{line}"


@dataclass(frozen=True, slots=True)
class OpaqueLocation:
    """A place that is not in a file: a name, a call site, several places, or unknown, as text."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


AnyLocation = Location | OpaqueLocation

_LONG_WORD = re.compile(r"\S{300,}")


class Ending(StrEnum):
    """How what the message is about came to its end."""

    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    BROKEN = "broken"
    """The error of a value whose last resolver died."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.  `notes` are diagnostics of severity NOTE that explain this one.

    `cause` is the exception of a Python kernel that the message is about.  `fix` is what an editor
    can do about it: a part of the line and what to write instead.  The fix of a note is about the
    line of the diagnostic that it explains.
    """

    severity: Severity
    message: str
    location: AnyLocation | None = None
    notes: tuple[Diagnostic, ...] = ()
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    ending: Ending = Ending.FAILED
    fix: tuple[str, str] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        place = "" if self.location is None else f"{self.location}: "
        return f"{place}{self.severity}: {self.short_message}"

    @property
    def short_message(self) -> str:
        """The message without the middle of words of hundreds of characters, such as types in
        types.
        """
        return _LONG_WORD.sub(lambda word: f"{word[0][:100]}...{word[0][-20:]}", self.message)


def error(
    message: str, location: AnyLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """A Diagnostic of severity ERROR."""
    return Diagnostic(Severity.ERROR, message, location, tuple(notes))


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 argument`, `2 arguments`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def known_names(names: Sequence[str]) -> str:
    """List the names that exist: `there is @f`, `there are @f, @g`, `there are none`."""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"


def meant(
    name: str, known: Iterable[str], otherwise: str = "", form: str = "{}", cutoff: float = 0.6
) -> str:
    """`did you mean X?`, of the nearest known name, written as in `form`; `otherwise` if none is
    near.
    """
    import difflib  # for messages only

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {form.format(near[0])}?" if near else otherwise


def note(
    message: str, location: AnyLocation | None = None, fix: tuple[str, str] | None = None
) -> Diagnostic:
    """A Diagnostic of severity NOTE, to hang on another one."""
    return Diagnostic(Severity.NOTE, message, location, fix=fix)


def led_by(sentence: str, words: Diagnostic) -> Diagnostic:
    """A diagnostic that says a sentence for people first; the `words` of MLIR or TFRT are a note
    at the same place.
    """
    first = note(words.message, words.location)
    return replace(words, message=sentence, notes=(first, *words.notes))


class TfrtError(Exception):
    """The exception for every user error: one or more diagnostics, the first one decisive.

    An exception of a Python kernel is its `__cause__`; the notes of the diagnostics are those of
    this exception, so that a traceback ends with them.
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
    """A defect of the toolkit, not of the program: reported like a mistake, so that users see no
    traceback.

    Nets of tests count it as a failure.
    """


_KNOWN: dict[tuple[int, int], tuple[CodeType, Location]] = {}
"""Places by code, which is kept so that its number stays its own, and instruction."""
_MAX_KNOWN = 1 << 16
FOREVER = 1e9
"""The longest wait in seconds: the nanoseconds of longer ones do not fit in the numbers of the
system.
"""


def caller() -> FrameType | None:
    """The innermost frame of this thread that is none of these packages'."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in HOOKS.own_packages:
            break
        frame = frame.f_back
    return frame


def place_of_caller() -> Location | None:
    """The line that the caller is at, with the columns of what it calls there."""
    frame = caller()
    return None if frame is None else place_of_frame(frame)


def place_of_frame(frame: FrameType) -> Location:
    """The line that a frame is at, with the columns of what it calls there."""
    code = frame.f_code
    key = id(code), frame.f_lasti
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = code, place_of_code(code, frame.f_lasti, frame.f_lineno)
    return known[1]


def place_of_code(code: CodeType, instruction: int, line_of_frame: int = 1) -> Location:
    """The place of an instruction of some code; `line_of_frame` if the code does not say."""
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
        TfrtError: at the line of the caller.
    """
    __tracebackhide__ = True  # IPython shows the user's frames
    raise TfrtError(error(message, place_of_caller()))


def require(is_right: bool, what: str, expected: str, found: object) -> None:
    """Refuse an argument that is of the wrong kind.

    Raises:
        TfrtError: at the line of the caller.
    """
    __tracebackhide__ = True
    if not is_right:
        refuse(f"{what} must be {expected}, found {reprlib.repr(found)}")


def require_column(column: object) -> None:
    """Refuse what has no length as a column of values.

    Raises:
        TfrtError: at the line of the caller.
    """
    try:
        len(column)  # type: ignore[arg-type]
    except TypeError:  # also of an array without dimensions
        require(False, "a column", "a sequence of values (write list(...) for an iterator)", column)


def deadline_in(timeout: float | None) -> float | None:
    """The time of `time.monotonic` that many seconds from now; None for never.

    Raises:
        TfrtError: if it is no number, at the line of the caller.
    """
    if timeout is None:
        return None
    is_number = isinstance(timeout, numbers.Real) and not isinstance(timeout, bool)
    # Compared before it is converted: a whole number may be too large for a float.
    seconds = float(min(timeout, FOREVER)) if is_number else math.nan
    require(not math.isnan(seconds), "timeout", "a number of seconds or None", timeout)
    return time.monotonic() + seconds


def seconds_until(deadline: float | None) -> float | None:
    """Seconds until a time of `time.monotonic`, 0 when it is past; None for never."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())
