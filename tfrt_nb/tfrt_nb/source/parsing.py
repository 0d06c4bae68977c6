"""Parse a whole source to a module, and report every error in it."""

from __future__ import annotations

import re
import struct
import sys
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from tfrt_nb.internal_errors import internal_error
from tfrt_nb.nesting import MAX_NESTING
from tfrt_nb.source.parser import SourceParser, is_raised_in
from tfrt_nb.source.spans import SourceError, SourceText, diagnostic_of
from tfrt_runtime.diagnostics import Diagnostic, error


@dataclass(frozen=True)
class ParsedText:
    """A module, and those of its values that were used before their definitions."""

    module: ModuleOp
    resolved_late: tuple[SSAValue, ...]


def parse_text(source: SourceText) -> ParsedText:
    """Parse a source to a module, without verification.

    Raises:
        SourceError: if the source has errors. The exception contains all errors that were found.
    """
    try:
        parser = SourceParser(source)
    except ParseError as exception:
        raise SourceError(diagnostic_of(exception, source)) from None
    try:
        module = parser.parse_module()
    except ParseError as exception:
        parser.report(exception)
    except MemoryError:
        raise
    except Exception as exception:  # noqa: BLE001 anything but a mistake is raised again
        parser.diagnostics.append(_mistake(exception, parser))
    if parser.diagnostics:
        raise SourceError(*parser.diagnostics)
    return ParsedText(module, tuple(parser.resolved_late))


def _mistake(exception: Exception, parser: SourceParser) -> Diagnostic:
    """Return the diagnostic for an exception from xDSL's parsers."""
    span = parser.token_span
    match exception:
        case RecursionError():
            text = f"types or attributes nest more than {MAX_NESTING} deep"
        case ValueError() | VerifyException():
            text = str(exception) or "this cannot be parsed"
            limit = sys.get_int_max_str_digits()
            if text.startswith("Exceeds the limit") and (
                numbers := re.findall(rf"[0-9]{{{limit + 1},}}", parser.source.text[: span.end])
            ):
                start = parser.source.text.rindex(numbers[-1], 0, span.end)
                span = Span(start, start + len(numbers[-1]), span.input)
                text = f"an integer of {len(numbers[-1])} digits: at most {limit} can be read"
        case OverflowError() | struct.error():
            text = "a number before this place does not fit its type"
        case NotImplementedError() if is_raised_in("xdsl.", exception):
            # xDSL does not support i128, f80, and f128 in lists, semi-affine maps, and external
            # resources.
            text = f"not supported: {str(exception) or 'a number of this type'}"
        case _:
            raise internal_error(exception, parser.location(span)) from exception
    return error(text, parser.location(span))
