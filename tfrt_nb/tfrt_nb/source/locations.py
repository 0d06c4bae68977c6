"""The MLIR location of an operation: what `loc(...)` says, else its place in the text."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import Operation

from tfrt_nb.source.spans import source_span


def location_of(op: Operation) -> LocationAttr:
    """The location that a BEF file records for the operation."""
    span = source_span(op)
    if span is None:
        return op.location
    if span.explicit is not None:
        return span.explicit
    line, column = span.source.line_and_column(span.start)
    return FileLineColLoc(StringAttr(span.source.name), IntAttr(line), IntAttr(column))
