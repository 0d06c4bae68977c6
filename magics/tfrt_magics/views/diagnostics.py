"""Diagnostics with locations in the cell.

A program is compiled under the name of its cell, and with an empty line instead of `%%tfrt`.
Therefore, the lines of a Location are lines of the cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from tfrt_magics.bridge.record import Json
from tfrt_nb.documents.escapes import clean, visible
from tfrt_nb.report import cut, end_of, width
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity, counted

DIAGNOSTICS_MIME = "application/vnd.tfrt.diagnostics+json"
MESSAGE_LIMIT = 2_000

COLORS = {
    Severity.ERROR: "#d55e00",
    Severity.WARNING: "#e69f00",
    Severity.REMARK: "#0072b2",
    Severity.NOTE: "#0072b2",
}
SHAPES = {
    Severity.ERROR: "▲",
    Severity.WARNING: "◆",
    Severity.REMARK: "●",
    Severity.NOTE: "↳",
}


@dataclass(frozen=True, slots=True)
class CellText:
    """The source to which locations refer: its name, and its text from line 1."""

    name: str
    text: str

    def line(self, number: int) -> str | None:
        lines = self.text.split("\n")  # unlike `splitlines`, ignores Python's other line separators
        return lines[number - 1] if 1 <= number <= len(lines) else None


@dataclass(frozen=True, slots=True)
class Underline:
    """The part of a line to which a diagnostic refers.

    Columns count from 1, and `end` is exclusive.
    """

    number: int
    line: str
    column: int
    end: int

    @property
    def parts(self) -> tuple[str, str, str]:
        """Return the shown parts of the line: before, inside, and after the mark."""
        line, start, stop = cut(self.line, self.column - 1, self.end - 1)
        return line[:start], line[start:stop], line[stop:]


def underline_of(diagnostic: Diagnostic, cell: CellText) -> Underline | None:
    """Return where to underline `diagnostic`, or None if its location is not in the cell."""
    place = diagnostic.location
    if not isinstance(place, Location) or place.source != cell.name:
        return None
    line = cell.line(place.line)
    if line is None:
        return None
    column = min(max(place.column, 1), len(line) + 1)
    return Underline(place.line, line, column, end_of(place, line, column))


def diagnostics_bundle(diagnostics: Sequence[Diagnostic], cell: CellText) -> dict[str, Json]:
    """Return the display data of `diagnostics`: HTML, text, and positions for the editor."""
    return {
        DIAGNOSTICS_MIME: diagnostics_json(diagnostics, cell),
        "text/html": f'<div role="alert">{"".join(_page(one, cell) for one in _flat(diagnostics))}</div>',  # noqa: E501
        "text/plain": diagnostics_text(diagnostics, cell),
    }


def diagnostics_json(diagnostics: Iterable[Diagnostic], cell: CellText) -> list[Json]:
    """Return the marks for an editor, one for each diagnostic or note in the cell."""
    return [
        {
            "line": mark.number,
            "col": mark.column,
            "end": mark.end,
            "sev": str(one.severity),
            "msg": _message(one),
        }
        for one in _flat(diagnostics)
        if (mark := underline_of(one, cell)) is not None
    ]


def diagnostics_text(diagnostics: Iterable[Diagnostic], cell: CellText) -> str:
    """Return each message with its line, and a caret under the underlined part."""
    return "\n".join(_one_text(one, cell) for one in _flat(diagnostics))


def in_one_line(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the first message, its place, and the number of other errors.

    An example is `Divide by zero – cell 2, line 7`.
    """
    first, *more = diagnostics
    place = first.location
    where = str(place or "")
    if isinstance(place, Location):
        where = f"{place.source}, line {place.line}" if place.line else place.source
    text = first.short_message.strip().partition("\n")[0]
    return (
        clean(text)
        + (f" – {clean(where)}" if where else "")
        + (f", and {counted(len(more), 'more error')}" if more else "")
    )


def _message(diagnostic: Diagnostic) -> str:
    """Return the message, shortened, because an exception's text may have any length."""
    text = visible(diagnostic.message[:MESSAGE_LIMIT])
    more = len(diagnostic.message) - MESSAGE_LIMIT
    return f"{text} … and {more} more characters" if more > 0 else text


def headline(diagnostic: Diagnostic) -> str:
    """Return the first line of a diagnostic: its place, severity, and message."""
    place = "" if diagnostic.location is None else f"{visible(str(diagnostic.location))}: "
    return f"{place}{diagnostic.severity}: {_message(diagnostic)}"


def _one_text(diagnostic: Diagnostic, cell: CellText) -> str:
    head = headline(diagnostic)
    mark = underline_of(diagnostic, cell)
    if mark is None:
        return head
    before, under, after = map(visible, mark.parts)
    # Keep tabs, so that the caret is under its text at any tab width.
    blank = "\t".join(" " * width(part) for part in before.split("\t"))
    return f"{head}\n  {before}{under}{after}\n  {blank}{'^' * max(1, width(under))}"


def _page(diagnostic: Diagnostic, cell: CellText) -> str:
    """Return the diagnostic as HTML with an underlined part."""
    color = COLORS[diagnostic.severity]
    shape = SHAPES[diagnostic.severity]
    indent = "24px" if diagnostic.severity is Severity.NOTE else "0"
    head = (
        f'<span style="color: {color}">{shape} <b>{diagnostic.severity}</b></span> '
        f'{escape(_message(diagnostic))} <span style="opacity: '
        f'0.7">{escape(visible(_short(diagnostic, cell)))}'
        "</span>"
    )
    return (
        f'<div style="margin-left: {indent}; margin-bottom: 6px">{head}'
        f"{_source_line(underline_of(diagnostic, cell), color)}</div>"
    )


def _source_line(mark: Underline | None, color: str) -> str:
    if mark is None:
        return ""
    before, under, after = map(visible, mark.parts)
    return (
        f'<pre style="margin: 2px 0 0 0"><span style="opacity: 0.6">{mark.number:>4} │ </span>'
        f"{escape(before)}"
        f'<span style="border-bottom: 2px solid {color}; font-weight: bold">{escape(under) or " "}'
        f"</span>{escape(after)}</pre>"
    )


def _short(diagnostic: Diagnostic, cell: CellText) -> str:
    """Return the place in a few words, without the cell's name, which its reader does not need."""
    place = diagnostic.location
    if isinstance(place, Location) and place.source == cell.name:
        return f"line {place.line}, column {place.column}"
    return "" if place is None else str(place)


def _flat(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """Return every diagnostic, each followed by its notes."""
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _flat(diagnostic.notes)
