"""The text of a program, and places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from tfrt_runtime.diagnostics import Location

_BRACE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')
"""A brace; or a comment or a string, which may have some that do not count."""


class SourceText:
    """A text and its name.  Positions count characters from 0; lines and columns count from 1."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._closing_braces: dict[int, int] = {}
        """What `closing_brace` has found, by the position of the brace that opens."""

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Where the character at `position` is."""
        line = bisect_right(self._line_starts, position)
        return line, position - self._line_starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """The position of the first character of a line."""
        return self._line_starts[line - 1]

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
