"""Split a source into tokens with one regular expression, and report errors where MLIR does."""

from __future__ import annotations

import re
from typing import NoReturn

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

_SUFFIX = r"(?:[0-9]+|[A-Za-z$._-][\w$.-]*)"
# The quantifiers are possessive, so that a literal of megabytes that lacks its end is not scanned
# again and again.
_CHARACTERS = r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+'
_STRING = f'{_CHARACTERS}"'

# MLIR writes branch weights before the first block since version 21. They change no result, so they
# are skipped like a comment.
_WEIGHTS = r"weights\s*\(\s*\[[0-9,\s]*\]\s*\)(?=\s*,\s*\^)"

_TOKEN = re.compile(
    rf"""(?:\s+|//[^\n]*|{_WEIGHTS})*
    (?: (?P<BARE_IDENT>[A-Za-z_][\w$.]*)
      | (?P<PERCENT_IDENT>%{_SUFFIX})
      | (?P<PUNCTUATION>->|\.\.\.|\{{-\#|\#-\}}|[:,={{}}()\[\]<>+/*?|-])
      | (?P<FLOAT_LIT>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?)
      | (?P<INTEGER_LIT>0x[0-9A-Fa-f]+|[0-9]+)
      | (?P<STRING_LIT>{_STRING})
      | (?P<HASH_IDENT>\#{_SUFFIX})
      | (?P<EXCLAMATION_IDENT>!{_SUFFIX})
      | (?P<AT_IDENT>@(?:[A-Za-z_][\w$.]*|{_STRING}))
      | (?P<CARET_IDENT>\^{_SUFFIX})
      | (?P<EOF>\Z)
    )?""",
    re.ASCII | re.VERBOSE,
)


def token_end(text: str, position: int) -> int:
    """Return the end of the token that starts at `position`; `position` itself if there is no
    token.
    """
    match = _TOKEN.match(text, position)
    if match is None or match.lastgroup is None or match.start(match.lastgroup) != position:
        return position
    return match.end()


class SourceLexer(MLIRLexer):
    """Produces MLIR's tokens. All string literals have the same kind, whatever bytes they hold."""

    def lex(self) -> MLIRToken:
        match = _TOKEN.match(self.input.content, self.pos)
        assert match is not None, "every part of the expression is optional"
        group = match.lastgroup
        if group is None:
            self._raise_error(match.end())
        start, self.pos = match.span(group)
        if group == "PUNCTUATION":
            kind = KIND_BY_PUNCTUATION_SPELLING[match[group]]
        else:
            kind = MLIRTokenKind[group]
        if kind is MLIRTokenKind.STRING_LIT:
            return Token(kind, StringLiteral(start, self.pos, self.input))
        return Token(kind, Span(start, self.pos, self.input))

    def _raise_error(self, position: int) -> NoReturn:
        """Report that the characters at `position` are not a token.

        Raises:
            ParseError: always.
        """
        text = self.input.content
        character = text[position]
        quote = position + 1 if character == "@" else position
        if text.startswith('"', quote):
            self._raise_string_error(quote)
        if character in "%#!^@":
            message = f"expected a name after '{character}'"
            if character == "#":
                message += "; comments begin with '//'"
        elif character == ".":
            message = "expected three consecutive dots for an ellipsis"
        else:
            message = f"unexpected character {character!r}"
        raise ParseError(Span(position, position + 1, self.input), message)

    def _raise_string_error(self, quote: int) -> NoReturn:
        match = _STRING_START.match(self.input.content, quote)
        assert match is not None, "there is a quote here"
        end = match.end()
        escape = self.input.content.startswith("\\", end)
        message = (
            "unknown escape in string literal" if escape else "expected '\"' in string literal"
        )
        raise ParseError(Span(end, end, self.input), message)


_STRING_START = re.compile(_CHARACTERS, re.ASCII)


_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)")
_KNOWN_ESCAPES = {b"n": b"\n", b"t": b"\t", b"\\": b"\\", b'"': b'"'}


def string_value(literal: str) -> str:
    """Return the content of a string literal; bytes that are not UTF-8 become surrogate escapes."""

    def unescape(match: re.Match[bytes]) -> bytes:
        return _KNOWN_ESCAPES.get(match[1]) or bytes.fromhex(match[1].decode())

    body = literal[1:-1]
    if "\\" not in body:
        return body
    data = _ESCAPE.sub(unescape, body.encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "surrogateescape")
