"""The place in the user's Python code that called into these packages, and what it passed that
is of the wrong kind.
"""

from __future__ import annotations

import math
import numbers
import reprlib
import sys
import time
from itertools import islice
from types import CodeType, FrameType
from typing import NoReturn

from tfrt_runtime.diagnostics import Location, TfrtError, error
from tfrt_runtime.hooks import HOOKS

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
