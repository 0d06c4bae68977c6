"""Exceptions for errors in a program's source."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from tfrt_nb.source.spans import SourceText
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note


class SourceError(TfrtError):
    """The text is not a valid program.  `diagnostics` has every independent reason, in order."""


class LocatedError(ParseError):
    """A parse error with notes."""

    def __init__(self, span: Span, message: str, notes: Iterable[Diagnostic]) -> None:
        super().__init__(span, message)
        self.notes = tuple(notes)


def diagnostic_of(exception: ParseError, source: SourceText) -> Diagnostic:
    """The diagnostic that a parse error stands for."""
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
    """XDSL words its messages in several ways; MLIR says what is expected, without a full stop."""
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
    """Return a message of xDSL's verifier about an operation of this name, as MLIR words it after
    the name.
    """
    first, _, _ = message.partition("\n")
    text = first.removeprefix(f"'{name}' ").removeprefix("op ").rstrip(".")
    for pattern, replacement in _IN_MLIRS_WORDS:
        text = pattern.sub(replacement, text)
    parents = re.match(r"expects parent op to be one of (.*)", text)
    if parents is not None:
        names = ", ".join(sorted(set(re.findall(r"'([\w.]+)'", parents[1]))))
        text = f"expects parent op to be one of '{names}'"
    return text
