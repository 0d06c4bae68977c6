"""The place in the user's Python code that called into these packages."""

from __future__ import annotations

import sys
from types import FrameType

from tfrt_runtime.diagnostics import Location

OWN_PACKAGES = {"tfrt_runtime"}
"""Packages whose frames are not the user's; those on higher floors add themselves."""


def caller() -> FrameType | None:
    """The innermost frame of this thread that is none of these packages'."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in OWN_PACKAGES:
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
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if 2 * index == frame.f_lasti and line is not None:
            if column is None or end_line is None or end_column is None:
                return Location(code.co_filename, line, 1)
            return Location(code.co_filename, line, column + 1, end_line, end_column + 1)
    return Location(code.co_filename, frame.f_lineno, 1)
