"""Compiled functions as text, and back: each operation says where it comes from, with `loc(...)`."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tfrt_nb.internal_errors import internal_errors_caught, location_of
from tfrt_nb.passes.printing import MlirPrinter
from tfrt_nb.source import parse_module
from tfrt_nb.source.spans import source_span


@internal_errors_caught()
def compiled_text(module: ModuleOp) -> str:
    """The text of compiled functions, with the place of each operation."""
    stream = StringIO()
    printer = _LocatingPrinter(stream)
    printer.name_values(module)
    printer.print_op(module)
    return stream.getvalue() + "\n"


def read_compiled(text: str, name: str) -> ModuleOp:
    """The module that `compiled_text` is the text of; each operation is where it was.

    Raises:
        TfrtError: if the text is no valid program.
    """
    module = parse_module(text, name)
    for op in module.walk():
        span = source_span(op)
        if span is not None and span.explicit is not None:
            op.location = span.explicit
    return module


class _LocatingPrinter(MlirPrinter):
    """Prints behind each operation where it comes from."""

    def print_op(self, op: Operation) -> None:
        super().print_op(op)
        place = location_of(op)
        if place is not None and not isinstance(op, ModuleOp):
            location = FileLineColLoc(
                StringAttr(place.source), IntAttr(place.line), IntAttr(place.column)
            )
            self.print_string(" ")
            self.print_attribute(location)
