"""Exceptions for error values, and errors for values that will never be available."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from inspect import CO_OPTIMIZED
from itertools import islice
from opcode import opmap
from types import CodeType, FunctionType, NoneType, TracebackType
from typing import TypeVar

from tfrt_runtime.diagnostics import Diagnostic, Ending, Severity, TfrtError, note
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded

PLAIN = {str, bytes, int, float, bool, NoneType}

_MAX_PLACES = 1000
"""Maximum number of traceback entries of an error.  At this depth, Python raises RecursionError."""
_MAX_OTHERS = 3
"""Maximum number of other failed steps that a run's error names."""
_PROLOGUE = bytes([opmap["RESUME"], 0] * 3)
"""The instructions before the user's bytecode in `_stand_in`.

A new frame is positioned at the first instruction on Python 3.11 and 3.12, and at the second on
later versions.
"""
_thread_state = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_Get", ctypes.pythonapi))
_new_frame = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object, ctypes.py_object
)(("PyFrame_New", ctypes.pythonapi))


def exception_of(diagnostic: Diagnostic) -> TfrtError:
    """Return the exception that is raised for an error value."""
    if diagnostic.ending in (Ending.FAILED, Ending.BROKEN):
        return TfrtError(diagnostic)
    from tfrt_runtime.host.exceptions import CancelledError, TimeoutError

    is_cancelled = diagnostic.ending is Ending.CANCELLED
    return CancelledError(diagnostic) if is_cancelled else TimeoutError(diagnostic)


def diagnostic_of(exception: BaseException) -> Diagnostic:
    """Return the error for an exception that user code has raised.

    The error's cause is the exception, whose tracebacks `detach` has reduced.
    """
    if isinstance(exception, TfrtError) and exception.diagnostics:
        return exception.diagnostics[0]
    detach(exception)
    text = f"{type(exception).__name__}: {printable(exception)}".removesuffix(": ")
    # Compare the name: several libraries have a class of this name, and importing them takes 20 ms.
    is_cancelled = type(exception).__name__ == "CancelledError"
    ending = Ending.CANCELLED if is_cancelled else Ending.FAILED
    return Diagnostic(Severity.ERROR, text, cause=exception, ending=ending)


def cancellation(message: str, ending: Ending = Ending.CANCELLED) -> Diagnostic:
    """Return the error for a value that will never exist."""
    return Diagnostic(Severity.ERROR, message, ending=ending)


def printable(said: object) -> str:
    """Return printable text for a user's object.

    The user's `__str__` may raise an exception or hang; the text then says so.
    """
    try:
        text = str(said) if _is_plain(said) else bounded(lambda: str(said))
    except SlowTextError:
        return f"<its __str__ took more than {MAX_SECONDS} s>"
    except BaseException as problem:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<its __str__ raised {type(problem).__name__}>"
    return text.encode(errors="backslashreplace").decode()


def _is_plain(said: object) -> bool:
    """Return whether `str(said)` runs no user code.

    The text of an exception consists of the texts of its arguments.
    """
    if isinstance(said, str):
        return True
    is_own_text = not isinstance(type(said).__str__, FunctionType)
    return is_own_text and all(type(each) in PLAIN for each in getattr(said, "args", ()))


def detach(exception: BaseException) -> None:
    """Reduce the tracebacks of an exception and its causes to source locations.

    A frame refers to its callers, and to the values, runs, and notebook cells that they use.  Any
    of these objects may refer to the error value, so an error value that held frames would never be
    freed.
    """
    seen: set[int] = set()
    left: list[BaseException | None] = [exception]
    while left:
        one = left.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            # A frozen dataclass would refuse `one.__traceback__ = ...` and `one.with_traceback`.
            BaseException.with_traceback(one, _places(one.__traceback__))
            left += (one.__cause__, one.__context__)
            if isinstance(one, BaseExceptionGroup):
                left += one.exceptions


Problem = TypeVar("Problem", bound=BaseException)


def for_users(problem: Problem) -> Problem:
    """Remove the runtime's frames from an exception's traceback; return the exception."""
    found: list[TracebackType] = []
    frames = problem.__traceback__
    while frames is not None:
        if not is_own(frames):
            found.append(frames)
        frames = frames.tb_next
    kept = None
    for one in reversed(found):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno or -1)
    return problem.with_traceback(kept)


def in_element(diagnostic: Diagnostic, index: int, count: int) -> Diagnostic:
    """Return the error of one of `count` mapped calls with an added note that names the call."""
    named = note(f"element {index} of {count}")
    return replace(diagnostic, notes=(*diagnostic.notes, named))


def with_others(problem: Problem, failed: Iterable[Diagnostic]) -> Problem:
    """Add notes about a run's other failures, `failed`, to the run's error; return the error."""
    if not isinstance(problem, TfrtError):
        return problem
    own = {(one.message, one.location) for one in problem.diagnostics}
    others = [one for one in failed if (one.message, one.location) not in own]
    for one in others[:_MAX_OTHERS]:
        problem.add_note(f"note: also failed: {one}")
    if others:
        more = f"{len(others) - _MAX_OTHERS} more failed; " if others[_MAX_OTHERS:] else ""
        problem.add_note(f"note: {more}what depends on a failed step was skipped")
    return problem


def _places(frames: TracebackType | None) -> TracebackType | None:
    """Return a traceback with the same source locations, whose frames never ran.

    The traceback starts at the user's kernel.  If it has more than `_MAX_PLACES` entries, only the
    outermost and the innermost remain.
    """
    found: list[TracebackType] = []
    while frames is not None:
        module = frames.tb_frame.f_globals.get("__name__")
        if (found or not is_own(frames)) and module != HOOKS.calling_module:
            found.append(frames)
        frames = frames.tb_next
    if len(found) > _MAX_PLACES:
        del found[_MAX_PLACES // 2 : -_MAX_PLACES // 2]
    places = None
    for entry in reversed(found):
        frame = entry.tb_frame
        line = -1 if entry.tb_lineno is None else entry.tb_lineno
        places = _place(frame.f_code, frame.f_globals, entry.tb_lasti, line, places)
    return places


def is_own(frames: TracebackType) -> bool:
    """Return whether a traceback's first frame belongs to this project (`HOOKS.own_packages`)."""
    return str(frames.tb_frame.f_globals.get("__name__")).partition(".")[0] in HOOKS.own_packages


def place_of(function: Callable[..., object]) -> TracebackType:
    """Return a traceback with one entry, at the first line of `function`.

    Use it for an exception whose traceback has no entry for the function.
    """
    code = function.__code__
    return _place(code, function.__globals__, -1, code.co_firstlineno, None)


def _place(
    code: CodeType,
    space: dict[str, object],
    instruction: int,
    line: int,
    inner: TracebackType | None,
) -> TracebackType:
    """Return a traceback entry at `line` of `code`, whose frame never ran.

    `PyFrame_New` makes the frame, as it does for Cython: no code runs, and no tracer notices the
    frame.

    Rejected alternative: the frame of a generator that has not started.  To make a generator, this
    module would have to call the user's code, with RETURN_GENERATOR inserted at its start, and
    without its parameters and exception table (Python 3.11 closes the generator by raising in it).
    """
    stand_in, offset = _stand_in(code.co_positions, instruction, line)
    frame = _new_frame(_thread_state(), stand_in, space, _NoLocals(stand_in))
    return TracebackType(inner, frame, offset, line)


@lru_cache(1024)
def _stand_in(
    positions: Callable[[], Iterable[tuple[int | None, ...]]], instruction: int, line: int
) -> tuple[CodeType, int]:
    """Return code for a frame that shows an instruction of the user's code.

    Also return an offset in the returned code, for the traceback's entry.

    Tools that show tracebacks use different parts of an entry:

    - IPython uses the entry's line, and `traceback` the columns of its instruction.
    - `executing`, which finds the expression that IPython marks, uses the instruction itself.
    - pdb's `list` and rich use the frame's line and columns.

    To make all of them agree, the returned code is the user's bytecode after a prologue, which has
    the instruction's line and columns.  A new frame is positioned at the prologue.

    If the user's code has another line for the instruction, as in entries that libraries make by
    hand, no expression is marked.  The returned offset is then the offset of the prologue, which
    has `line` and no columns.

    Args:
        positions: `co_positions` of the user's code.  It is part of a cache key: a bound method is
            compared by the identity of its object, whereas the code objects of two files may be
            equal.
        instruction: the instruction's offset in the user's code, in bytes; negative if unknown.
        line: the instruction's line, or -1 if it has none.
    """
    code = positions.__self__  # type: ignore[attr-defined]
    if code.co_code.startswith(_PROLOGUE):  # `_stand_in` has already made this code
        return code, instruction
    found = next(islice(positions(), max(instruction, 0) // 2, None), (None,))
    is_known = instruction >= 0 and found[0] == line
    _, end_line, column, end_column = found if is_known else (line, line, None, None)
    away = line - code.co_firstlineno
    # The format is in CPython's Objects/locations.md: 14 is "long form", 13 is "no column". The
    # second entry resets the line to the start of the user's table.
    prologue = (
        # The low 3 bits of an entry's first byte are its instruction count minus 1: here, 2 and 1.
        bytes([0x80 | 14 << 3 | 1]),
        _varint(abs(away) << 1 | (away < 0)),
        _varint((end_line or line) - line),
        *(_varint(0 if at is None else at + 1) for at in (column, end_column)),
        bytes([0x80 | 13 << 3]),
        _varint(abs(away) << 1 | (away > 0)),
    )
    stand_in = code.replace(
        co_code=_PROLOGUE + code.co_code,
        co_linetable=b"".join(prologue) + code.co_linetable,
        co_exceptiontable=b"",  # its offsets would be wrong
        co_flags=code.co_flags & ~CO_OPTIMIZED,  # with it, a frame ignores its locals
    )
    return stand_in, instruction + len(_PROLOGUE) if is_known else 0


def _varint(number: int) -> bytes:
    """Encode a number in groups of 6 bits, lowest first.

    Bit 6 is set in all groups except the last.
    """
    # Readers accept high groups of zeros, so the length can be fixed.
    return bytes([*(number >> 6 * group & 63 | 64 for group in range(5)), number >> 30])


class _NoLocals(dict[str, object]):
    """The local variables of a frame that never ran: no items, but every variable can be read.

    IPython reads the arguments to show the call: `check(pieces)`, `check(pieces=<not kept>)`.
    """

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __missing__(self, name: str) -> object:
        if name in self.code.co_varnames + self.code.co_cellvars + self.code.co_freevars:
            return _NotKept()
        raise KeyError(name)


class _NotKept:
    def __repr__(self) -> str:
        return "<not kept>"
