"""Sources, places in sources, and errors as exceptions.

The parser gives each operation a `SourceSpan` as its `location`. Passes copy the span to the
operations that they create. A span has only positions. Lines, columns, and the places of names are
computed on request, because most operations never need them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate, islice
from typing import cast

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import BlockArgument, BuiltinAttribute, Operation, OpResult, SSAValue
from xdsl.printer import Printer
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error, note

_BRACE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')
"""Matches a brace, or a comment or string, in which braces do not count."""
_PART = 1 << 16
"""The number of characters that are searched for line ends at a time."""


class SourceText:
    """A source and its name.

    Positions count characters, starting at 0. Lines and columns start at 1.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._closing_braces: dict[int, int] = {}
        """The results of `closing_brace`, by the position of the opening brace."""
        self._starts_by_part: dict[int, array[int]] = {}

    @cached_property
    def _lines_before(self) -> list[int]:
        """The number of line ends before each part of `_PART` characters, and in the source."""
        parts = range(0, len(self.text) + 1, _PART)
        counts = [self.text.count("\n", start, start + _PART) for start in parts]
        return [*accumulate(counts, initial=0)]

    def _starts(self, part: int) -> array[int]:
        """Return the line starts in one part of the source.

        A large source has many parts, most of which are never searched.
        """
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
        """Return the line and column of the character at `position`."""
        part = min(position, len(self.text)) // _PART
        starts = self._starts(part)
        number = bisect_right(starts, position)
        line = self._lines_before[part] + number + 1
        # If no line starts in this part before the position, the line starts in an earlier part.
        start = starts[number - 1] if number else self.line_start(line)
        return line, position - start + 1

    def line_start(self, line: int) -> int:
        """Return the position of the first character of a line."""
        if line == 1:
            return 0
        part = bisect_left(self._lines_before, line - 1) - 1
        return self._starts(part)[line - 2 - self._lines_before[part]]

    def closing_brace(self, position: int) -> int:
        """Return the position of the brace that closes the brace at `position`.

        If no brace closes it, return the end of the source.
        """
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
        """Return the location of the characters from `start` up to, but not including, `end`."""
        line, column = self.line_and_column(start)
        end_line, end_column = self.line_and_column(max(start, end))
        return Location(self.name, line, column, end_line, end_column)


class SourceSpan(BuiltinAttribute):
    """A place in a source, used as the location of an operation or a block argument.

    `first` is the start of the names of its results, `start` is the start of its own name, and
    `end` is the end of its head. If an operation has regions, its head ends where the first region
    opens. `explicit` is the location that the program states with `loc(...)`, or None.
    """

    name = "tfrt.source_span"
    __slots__ = ("end", "explicit", "first", "source", "start")
    source: SourceText
    first: int
    start: int
    end: int
    explicit: LocationAttr | None

    def __init__(
        self,
        source: SourceText,
        first: int,
        start: int,
        end: int,
        explicit: LocationAttr | None = None,
    ) -> None:
        set_field = object.__setattr__  # attributes are frozen
        set_field(self, "source", source)
        set_field(self, "first", first)
        set_field(self, "start", start)
        set_field(self, "end", end)
        set_field(self, "explicit", explicit)

    # Spans are compared by identity, because every operation has its own span.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def location(self) -> Location:
        """The location from the start of the name to the end of the head."""
        return self.source.location(self.start, self.end)

    def print_builtin(self, printer: Printer) -> None:
        line, column = self.source.line_and_column(self.start)
        with printer.in_location():
            printer.print_string_literal(self.source.name)
            printer.print_string(f":{line}:{column}")


def place(node: Operation | BlockArgument, span: SourceSpan) -> None:
    """Record the place of `node` in its source."""
    node.location = cast(LocationAttr, span)


def span_of(op: Operation) -> Location | None:
    """Return the location of an operation in its source, from its name on, or None."""
    span = source_span(op)
    return None if span is None else span.location


def attribute_span(op: Operation, name: str) -> Location | None:
    """Return the place of the value in `name = value`, or None if the source has another form."""
    span, written = source_span(op), re.compile(rf"\b{re.escape(name)}\s*=\s*([^,}}\s]+)")
    found = None if span is None else written.search(span.source.text, span.start, span.end)
    return None if span is None or found is None else span.source.location(*found.span(1))


def source_span(node: Operation | BlockArgument) -> SourceSpan | None:
    """Return the span that the parser gave to `node`, or None if `node` has no source."""
    span: object = node.location
    return span if isinstance(span, SourceSpan) else None


def location_of(op: Operation) -> LocationAttr:
    """Return the location that a BEF file records for the operation.

    This is the location that `loc(...)` states or, without one, the operation's place.
    """
    span = source_span(op)
    if span is None:
        return op.location
    if span.explicit is not None:
        return span.explicit
    line, column = span.source.line_and_column(span.start)
    return FileLineColLoc(StringAttr(span.source.name), IntAttr(line), IntAttr(column))


_RESULT = re.compile(r"(%[\w$.-]+)(?:\s*:\s*([0-9]+))?")
_OPERAND = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(%[\w$.-]+(?:#[0-9]+)?)')


def definition_span(value: SSAValue) -> Location | None:
    """Return the place of the name that defines `value`, or None."""
    if isinstance(value, BlockArgument):
        span = source_span(value)
        return None if span is None else span.location
    if not isinstance(value, OpResult):
        return None
    span, found = source_span(value.op), _result_name(value)
    return span_of(value.op) if span is None or found is None else span.source.location(*found[:2])


def value_name(value: SSAValue) -> str | None:
    """Return the source name of `value`: `%x`, or `%x#1` for a part of a result list."""
    if isinstance(value, BlockArgument):
        span = source_span(value)
        return None if span is None else span.source.text[span.start : span.end]
    if not isinstance(value, OpResult) or (found := _result_name(value)) is None:
        return None
    return found[2]


def _result_name(result: OpResult) -> tuple[int, int, str] | None:
    """Return the start, the end, and the text of the name that defines `result`."""
    span = source_span(result.op)
    if span is None:
        return None
    index = result.index
    for match in _RESULT.finditer(span.source.text, span.first, span.start):
        count = int(match[2] or 1)
        if index < count:
            name = match[1] if match[2] is None else f"{match[1]}#{index}"
            return *match.span(1), name
        index -= count
    return None


def operand_span(op: Operation, index: int) -> Location | None:
    """Return the place of operand number `index` of the operation, or None."""
    span = source_span(op)
    if span is None:
        return None
    names = (
        match
        for match in _OPERAND.finditer(span.source.text, span.start, span.end)
        if match[1] is not None
    )
    found = next(islice(names, index, None), None)
    return span.location if found is None else span.source.location(*found.span(1))


class SourceError(TfrtError):
    """The error for a source that is not a valid program.

    `diagnostics` contains every independent mistake, in source order.
    """


class LocatedError(ParseError):
    """A parse error with notes."""

    def __init__(self, span: Span, message: str, notes: Iterable[Diagnostic]) -> None:
        super().__init__(span, message)
        self.notes = tuple(notes)


def diagnostic_of(exception: ParseError, source: SourceText) -> Diagnostic:
    """Return the diagnostic for a parse error."""
    notes: tuple[Diagnostic, ...] = ()
    if isinstance(exception, LocatedError):
        notes = exception.notes
    elif isinstance(exception, MultipleSpansParseError):
        notes = tuple(
            note(text or exception.ref_text or "see here", source.location(span.start, span.end))
            for span, text in exception.refs
        )
    span = exception.span
    return error(in_house_style(exception.msg), source.location(span.start, span.end), notes)


_STYLE = (
    (re.compile(r"^attribute expected\b"), "expected an attribute"),
    (re.compile(r"^(type|shape type|function type) expected\b"), r"expected a \1"),
    (re.compile(r"^(block argument|operand|string literal|identifier) expected\b"), r"expected \1"),
    (re.compile(r"^('.*?') expected\b"), r"expected \1"),
    (re.compile(r"^expect symbol name"), "expected valid '@'-identifier for symbol name"),
    (re.compile(r"^E(?=xpected\b)"), "e"),
    (re.compile(r"[.!]$"), ""),
)


def in_house_style(message: str) -> str:
    """Return an xDSL message in MLIR's form, which says what is expected and has no period."""
    for pattern, replacement in _STYLE:
        message = pattern.sub(replacement, message)
    return message


_IN_MLIRS_WORDS = (
    (re.compile(r"last operation in its parent block"), "last operation in the parent block"),
    (
        re.compile(r"'@(.*)' (does not reference|could not be found).*"),
        r"'\1' does not reference a valid function",
    ),
    (
        re.compile(
            r"(operand type mismatch: expected operand type )([^'].*)(, but provided )(.*)( for op)"
        ),
        r"\1'\2'\3'\4'\5",
    ),
    (re.compile(r"Expected 1 region, but got \d+"), "requires one region"),
    (re.compile(r"Expected (\d+) regions?, but got \d+"), r"requires \1 regions"),
    (re.compile(r"result type mismatch: .* for result number "), "result type mismatch at index "),
)


def in_mlirs_words(name: str, message: str) -> str:
    """Return a message from xDSL's verifier in MLIR's words, without the operation's name."""
    first, _, _ = message.partition("\n")
    text = first.removeprefix(f"'{name}' ").removeprefix("op ").rstrip(".")
    for pattern, replacement in _IN_MLIRS_WORDS:
        text = pattern.sub(replacement, text)
    parents = re.match(r"expects parent op to be one of (.*)", text)
    if parents is not None:
        names = ", ".join(sorted(set(re.findall(r"'([\w.]+)'", parents[1]))))
        text = f"expects parent op to be one of '{names}'"
    return text
