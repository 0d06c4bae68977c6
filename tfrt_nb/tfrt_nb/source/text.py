"""The text of a program, and places in it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from tfrt_runtime.diagnostics import Location

_BRACE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')
"""A brace; or a comment or a string, which may have some that do not count."""
_PART = 1 << 16
"""Lines are looked for in so many characters at a time."""


class SourceText:
    """A text and its name.  Positions count characters from 0; lines and columns count from 1."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._closing_braces: dict[int, int] = {}
        """What `closing_brace` has found, by the position of the brace that opens."""
        self._starts_by_part: dict[int, array[int]] = {}

    @cached_property
    def _lines_before(self) -> list[int]:
        """How many lines end before each part of `_PART` characters, and before the end."""
        parts = range(0, len(self.text) + 1, _PART)
        counts = [self.text.count("\n", start, start + _PART) for start in parts]
        return [*accumulate(counts, initial=0)]

    def _starts(self, part: int) -> array[int]:
        """Where lines start behind the line ends of a part, of which a large text has many."""
        starts = self._starts_by_part.get(part)
        if starts is None:
            first = part * _PART
            found = array("q")
            position = self.text.find("\n", first, first + _PART)
            while position >= 0:
                found.append(position + 1)
                position = self.text.find("\n", position + 1, first + _PART)
            starts = self._starts_by_part[part] = found
        return starts

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Where the character at `position` is."""
        part = min(position, len(self.text)) // _PART
        starts = self._starts(part)
        number = bisect_right(starts, position)
        line = self._lines_before[part] + number + 1
        start = starts[number - 1] if number else self.line_start(line)
        return line, position - start + 1

    def line_start(self, line: int) -> int:
        """The position of the first character of a line."""
        if line == 1:
            return 0
        part = bisect_left(self._lines_before, line - 1) - 1
        return self._starts(part)[line - 2 - self._lines_before[part]]

    def closing_brace(self, position: int) -> int:
        """The position of the brace that closes the one at `position`; the text's end if none does."""
        closing = self._closing_braces
        if position not in closing:
            opened: list[int] = []
            for match in _BRACE.finditer(self.text, position):
                if match[0] == "{":
                    opened.append(match.start())
                elif match[0] == "}":
                    closing[opened.pop()] = match.start()
                    if not opened:
                        break
            closing.update(dict.fromkeys(opened, len(self.text)))
        return closing[position]

    def location(self, start: int, end: int) -> Location:
        """The span from `start` to before `end`."""
        line, column = self.line_and_column(start)
        end_line, end_column = self.line_and_column(max(start, end))
        return Location(self.name, line, column, end_line, end_column)
