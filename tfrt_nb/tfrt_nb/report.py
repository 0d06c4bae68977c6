"""Diagnostics as text: the message, the source line, and a caret under the location.

cell 3:3:25: error: use of undeclared SSA value name
  %b = tfrt.add.i32 %a, %missing
                        ^~~~~~~~
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tfrt_runtime.diagnostics import Diagnostic, Location

_TAB_WIDTH = 8
_MAX_LINE = 200
"""How many characters of a long line are shown around the caret."""
_ELLIPSIS = "..."
_OPERATION = re.compile(r'"?([A-Za-z_][\w.$]*)')
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[%@^!#]?[\w$.]+(?:#\d+)?|->|\S')
"""Matches the word at a location that is a single point."""


NOWHERE = "<unknown>:0"


def render(diagnostic: Diagnostic, text: str | None = None, nowhere: str = NOWHERE) -> str:
    """Format a diagnostic and its notes, without a final newline.

    `text` is the source to which the diagnostic's location refers, if it is available. A note about
    another source is shown without that source's line. `nowhere` replaces a missing location.
    """
    source = diagnostic.location.source if isinstance(diagnostic.location, Location) else None
    parts = (diagnostic, *diagnostic.notes)
    return "\n".join(_render_one(part, text, source, nowhere) for part in parts)


def render_all(
    diagnostics: Iterable[Diagnostic], text: str | None = None, nowhere: str = NOWHERE
) -> str:
    """Format several diagnostics, one after another, without a final newline."""
    return "\n".join(render(diagnostic, text, nowhere) for diagnostic in diagnostics)


def word_at(text: str, location: Location | None) -> str:
    """Return the name of the operation at a location in `text`, or "" if none is there."""
    lines = text.split("\n")
    if location is None or not 1 <= location.line <= len(lines):
        return ""
    found = _OPERATION.match(lines[location.line - 1], max(location.column - 1, 0))
    return found[1] if found else ""


def end_of(place: Location, line: str, column: int) -> int:
    """Return the column after the underlined part of the line of `place`. Columns count from 1."""
    if place.end_line > place.line:
        return max(len(line.rstrip()) + 1, column + 1)
    if place.end_column > column:
        return min(place.end_column, len(line) + 1)
    word = _WORD.match(line, column - 1)
    return column + 1 if word is None else word.end() + 1


def _render_one(diagnostic: Diagnostic, text: str | None, source: str | None, nowhere: str) -> str:
    location = diagnostic.location
    if location is None:
        return f"{nowhere}: {diagnostic.severity}: {diagnostic.short_message}"
    if text is None or not isinstance(location, Location) or location.source != source:
        return str(diagnostic)
    lines = text.split("\n")
    if not 1 <= location.line <= len(lines):
        return str(diagnostic)
    return f"{diagnostic}\n{_excerpt(lines[location.line - 1].rstrip(), location)}"


def _excerpt(line: str, location: Location) -> str:
    """Return the line with expanded tabs and, under the location, a line with `^~~~`."""
    start = max(location.column - 1, 0)
    end = max(location.end_column - 1, start) if location.end_line == location.line else len(line)
    line, start, end = cut(line, start, end)
    # `loc` may name any column. A mark far past the end of the line would show nothing.
    before = width(line[:start]) + min(max(0, start - len(line)), _MAX_LINE)
    under = width(line[:end]) - width(line[:start])
    return f"{_expanded(line)}\n{' ' * before}{'^':~<{max(1, under)}}"


def cut(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return a line, shortened around `start` if it is long, and the span's position in it."""
    if len(line) <= _MAX_LINE:
        return line, start, end
    first = max(0, min(start, len(line)) - _MAX_LINE // 3)
    last = first + _MAX_LINE
    left, right = _ELLIPSIS if first else "", _ELLIPSIS if last < len(line) else ""
    shift = len(left) - first
    return left + line[first:last] + right, start + shift, min(end, last) + shift


def _expanded(line: str) -> str:
    """Return `line` with spaces instead of tabs, so that a terminal shows the same columns."""
    expanded = ""
    for character in line:
        if character == "\t":
            expanded += " " * (_TAB_WIDTH - width(expanded) % _TAB_WIDTH)
        else:
            expanded += character
    return expanded


def width(text: str) -> int:
    """Return the number of columns that `text` takes at the start of a line."""
    columns = 0
    for character in text:
        if character == "\t":
            columns += _TAB_WIDTH - columns % _TAB_WIDTH
        elif not unicodedata.combining(character):
            columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns
