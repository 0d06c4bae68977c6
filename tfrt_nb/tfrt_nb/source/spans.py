"""Where in its text an operation, a result, an argument or an operand is.

The parser gives each operation a `SourceSpan` as its `location`; passes hand it on to the
operations that they make.  It holds positions only: lines, columns and the places of names are
worked out when someone asks, which for most operations is never.
"""

from __future__ import annotations

import re
from typing import cast

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import BlockArgument, BuiltinAttribute, Operation, OpResult, SSAValue
from xdsl.printer import Printer

from tfrt_nb.source.text import SourceText
from tfrt_runtime.diagnostics import Location


class SourceSpan(BuiltinAttribute):
    """A place in a source text, as the location of an operation or a block argument.

    `first` is where its result names start, `start` where its own name does, `end` is behind its
    head: for an operation with regions, where the first one opens.  `explicit` is the location that
    the program gives with `loc(...)`.
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

    # Two places are the same only if they are the same object; the fields are not compared because
    # every operation has a place of its own.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def location(self) -> Location:
        """From the name to the end of the head."""
        return self.source.location(self.start, self.end)

    def print_builtin(self, printer: Printer) -> None:
        line, column = self.source.line_and_column(self.start)
        with printer.in_location():
            printer.print_string_literal(self.source.name)
            printer.print_string(f":{line}:{column}")


def place(node: Operation | BlockArgument, span: SourceSpan) -> None:
    """Say where `node` is in its source."""
    node.location = cast(LocationAttr, span)


def span_of(op: Operation) -> Location | None:
    """The span of the operation in its source, from its name on; None if it has no source."""
    span = source_span(op)
    return None if span is None else span.location


def source_span(node: Operation | BlockArgument) -> SourceSpan | None:
    """The place that the parser gave to `node`; None if it is not from a text."""
    span: object = node.location
    return span if isinstance(span, SourceSpan) else None


def location_of(op: Operation) -> LocationAttr:
    """The location that a BEF file records for the operation: what `loc(...)` says, else its place."""
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
    """Where the name of `value` is written that defines it."""
    if isinstance(value, BlockArgument):
        span = source_span(value)
        return None if span is None else span.location
    if not isinstance(value, OpResult):
        return None
    span, found = source_span(value.op), _result_name(value)
    if span is None or found is None:
        return span_of(value.op)
    return span.source.location(*found[:2])


def value_name(value: SSAValue) -> str | None:
    """The name of `value` in its source: `%x`, or `%x#1` for a part of a result list."""
    if isinstance(value, BlockArgument):
        span = source_span(value)
        return None if span is None else span.source.text[span.start : span.end]
    if not isinstance(value, OpResult) or (found := _result_name(value)) is None:
        return None
    return found[2]


def _result_name(result: OpResult) -> tuple[int, int, str] | None:
    """Start, end and text of the name that defines `result`."""
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
    """Where operand `index` of the operation is written."""
    span = source_span(op)
    if span is None:
        return None
    names = (
        match
        for match in _OPERAND.finditer(span.source.text, span.start, span.end)
        if match[1] is not None
    )
    for position, match in enumerate(names):
        if position == index:
            return span.source.location(*match.span(1))
    return span.location
