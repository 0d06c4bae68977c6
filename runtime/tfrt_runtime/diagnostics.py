"""An error is a value with a place.

A `Diagnostic` says what went wrong, where, and what to do.  The compiler makes them while it reads
a program, the runtime while it runs one; it travels inside an error AsyncValue, is printed by the
command line with a caret, and is drawn by the notebook under the cell's own line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

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
    """Of a value: the last object that could resolve it died."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.  `notes` are diagnostics of severity NOTE that explain this one.

    `cause` is the exception of a Python kernel that the message is about.  `fix` is what an editor
    can do about it: a text of the line and what to write instead.  The fix of a note is about the
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
    """What there is: `there is @f`, `there are @f, @g`, `there are none`."""
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
    """What every user's mistake is raised as: one or more diagnostics, the first one decisive.

    What a Python kernel raised is its `__cause__`; the notes of the diagnostics are those of the
    exception, so that a traceback ends with them.
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
