"""The layer of the parser for types, attributes, strings, and locations.

One regular expression splits the source into tokens. Errors have the same positions as in MLIR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    MemRefType,
    NoneAttr,
    RankedStructure,
    StringAttr,
    TensorType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import AttrParser, Parser, ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

from tfrt_nb.dialects.literals import number_attribute, parse_number_attribute
from tfrt_nb.dialects.types import ShapeAttr, host_type, unknown_type_message
from tfrt_nb.source import spellings
from tfrt_nb.source.spans import SourceText

_SUFFIX = r"(?:[0-9]+|[A-Za-z$._-][\w$.-]*)"
# The quantifiers are possessive, so that an unclosed literal of several megabytes is scanned only
# once.
_CHARACTERS = r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+'
_STRING = f'{_CHARACTERS}"'

# MLIR 21 and later write branch weights before the first block. They do not affect results, so skip
# them like a comment.
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
    """Return the end of the token that starts at `position`.

    If no token starts there, return `position`.
    """
    match = _TOKEN.match(text, position)
    if match is None or match.lastgroup is None or match.start(match.lastgroup) != position:
        return position
    return match.end()


class SourceLexer(MLIRLexer):
    """Produces MLIR's tokens. A string literal has the same kind, whatever bytes it contains."""

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
        """Report that no token starts at `position`.

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
    """Return the content of a string literal. Bytes that are not UTF-8 become surrogate escapes."""

    def unescape(match: re.Match[bytes]) -> bytes:
        return _KNOWN_ESCAPES.get(match[1]) or bytes.fromhex(match[1].decode())

    body = literal[1:-1]
    if "\\" not in body:
        return body
    data = _ESCAPE.sub(unescape, body.encode("utf-8", "surrogatepass"))
    return data.decode("utf-8", "surrogateescape")


_ALIAS = re.compile(r"^[ \t]*([#!][\w$-][\w$-]*)[ \t]*=", re.MULTILINE | re.ASCII)

_SIMPLE_ASYNC_TYPE = re.compile(r"!async\.(?:token|group|value<[a-z]\w*>)(?![\w.<$-])", re.ASCII)

MAX_CONSTANT_ELEMENTS = 1 << 24
"""The maximum number of elements in a constant.

Programs and machine code hold every element.
"""

_NOT_A_SCALAR = (
    MLIRTokenKind.L_SQUARE,
    MLIRTokenKind.L_PAREN,
    MLIRTokenKind.STRING_LIT,
    MLIRTokenKind.GREATER,
)
"""The first tokens of `dense` elements that are not a single number."""


@dataclass
class _Element(Parser._TensorLiteralElement):
    """An element of `dense<...>`, which is parsed like any other number."""

    def to_type(self, parser: AttrParser, type: Attribute) -> int | float | tuple[float, float]:
        if isinstance(type, ComplexType):
            if not isinstance(self.value, tuple):
                parser.raise_error("expected a complex number, as in (1.0, 0.0)", self.span)
            return cast(tuple[float, float], super().to_type(parser, type))
        return number_attribute(parser, self.span, type).value.data


MAX_ALIASES = 1 << 16
"""The maximum number of aliases in the value of an alias.

Because aliases can refer to aliases, a short source can define a huge value.
"""


class AttributeParser(Parser):
    """xDSL's parser with the types and attributes of host programs.

    Aliases may be defined anywhere in the source.
    """

    def __init__(self, source: SourceText, context: Context) -> None:
        self._last_end = 0
        super().__init__(context, "", source.name)
        self.source = source
        self._parser_state = ParserState(SourceLexer(Input(source.text, source.name)))
        self._open_aliases: set[str] = set()
        self._alias_sizes: dict[str, int] = {}
        """The number of aliases in each alias's value, counting each use and the alias itself."""
        self._size = 0
        """The number of aliases in the value that is being read."""
        self._simple_types: dict[str, TypeAttribute] = {}

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MLIRToken:
        token = self._current_token
        if expected_kind is not None and token.kind is not expected_kind:
            self.raise_error(f"unexpected '{token.text}'")  # xDSL would fail an assertion
        self._last_end = token.span.end
        return super()._consume_token(expected_kind)

    def raise_error(
        self,
        msg: str,
        at_position: Span | int | None = None,
        end_position: int | None = None,
    ) -> NoReturn:
        """Raise a parse error.

        A position without an end means the whole token at that position.
        """
        if isinstance(at_position, int):
            end = token_end(self.source.text, at_position) if end_position is None else end_position
            at_position = Span(at_position, end, self.lexer.input)
        raise ParseError(self._current_token.span if at_position is None else at_position, msg)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """Parse `dense<...>`.

        If one number represents all elements, the method handles it itself, because xDSL would
        create an object for each element.
        """
        start = self._current_token.span.start
        if type is not None:
            self._check_elements(type, start)
        self.parse_punctuation("<", " in dense attribute")
        if self._current_token.kind in _NOT_A_SCALAR:
            self._resume_from(start)
            return super().parse_dense_int_or_fp_elements_attr(type)
        element = self._parse_tensor_literal_element()
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        kind = type.get_element_type()
        one: Any = DenseIntOrFPElementsAttr.from_list(
            cast(Any, TensorType(kind, [1])), [cast(Any, element.to_type(self, kind))]
        )
        return DenseIntOrFPElementsAttr(type, BytesAttr(one.data.data * prod(type.get_shape())))

    def _parse_dense_literal_type(self) -> Any:
        start = self._current_token.span.start
        type_ = super()._parse_dense_literal_type()
        self._check_elements(type_, start)
        return type_

    def _check_elements(self, type_: RankedStructure[AnyDenseElement], start: int) -> None:
        if prod(type_.get_shape()) > MAX_CONSTANT_ELEMENTS:
            self.raise_error(
                f"a constant can have at most {MAX_CONSTANT_ELEMENTS} elements; for a larger "
                "buffer, use an allocation",
                start,
            )

    # Types

    def parse_optional_type(self) -> TypeAttribute | None:
        token = self._current_token
        if token.kind is MLIRTokenKind.BARE_IDENT:
            return self._parse_word_type(token)
        if token.kind is not MLIRTokenKind.EXCLAMATION_IDENT:
            return super().parse_optional_type()
        match = _SIMPLE_ASYNC_TYPE.match(self.source.text, token.span.start)
        if match is None:
            return self._parse_dialect_type(token)
        known = self._simple_types.get(match[0])
        if known is None:
            known = self._parse_dialect_type(token)
            if known is not None and self._last_end == match.end():
                self._simple_types[match[0]] = known
            return known
        self._resume_from(match.end())
        self._last_end = match.end()
        return known

    def _parse_word_type(self, token: MLIRToken) -> TypeAttribute | None:
        """Parse `i32` or `index`.

        Equal types are the same object, so that equal operations can be found quickly.
        """
        word = token.text
        known = self._simple_types.get(word)
        if known is not None:
            self._consume_token()
            return known
        known = super().parse_optional_type()
        # Remember only types that are a single word, unlike `memref<4xf32>`.
        if known is not None and self._last_end == token.span.end:
            self._simple_types[word] = known
        return known

    def _parse_dialect_type(self, token: MLIRToken) -> TypeAttribute | None:
        """Parse `!dialect.name<...>`."""
        spelling = spellings.type_name(token.text[1:])
        dialect, dot, _ = spelling.partition(".")
        if not dot or self.ctx.get_optional_dialect(dialect) is not None:
            self._refuse_unknown_async_type(spelling, token)
            return super().parse_optional_type()
        if (message := unknown_type_message(spelling)) is not None:
            self.raise_error(
                message, Span(token.span.start + 2 + len(dialect), token.span.end, token.span.input)
            )
        self._consume_token()
        if self._current_token.kind is MLIRTokenKind.LESS:
            spelling += f"<{self._parse_dialect_symbol_body()}>"
        return host_type(spelling)

    def _refuse_unknown_async_type(self, spelling: str, token: MLIRToken) -> None:
        """Reject an unknown type of the async dialect, because xDSL would accept any name."""
        dialect, _, name = spelling.partition(".")
        if dialect != "async":
            return
        known = self.ctx.get_optional_dialect(dialect)
        if known is not None and spelling not in {one.name for one in known.attributes}:
            span = Span(token.span.start + 2 + len(dialect), token.span.end, token.span.input)
            self.raise_error(f"unknown  type `{name}` in dialect `async`", span)

    def _parse_memref_attrs(self) -> MemRefType | UnrankedMemRefType:
        start = self.pos
        type_ = super()._parse_memref_attrs()
        element = type_.element_type
        if element.name.startswith("async.") or isinstance(element, TensorType | FunctionType):
            written = re.compile(r"!|tensor|\(").search(self.source.text, start)
            self.raise_error(
                "invalid memref element type", start if written is None else written.start()
            )
        return type_

    # Attributes

    def parse_optional_attribute(self) -> Attribute | None:
        token = self._current_token
        if token.kind is not MLIRTokenKind.HASH_IDENT or token.text != "#corert.shape":
            return super().parse_optional_attribute()
        self._consume_token()
        body_span = self._current_token.span
        if self._current_token.kind is not MLIRTokenKind.LESS:
            self.raise_error("expected '<' and the dimensions of a shape")
        try:
            return ShapeAttr.read(self._parse_dialect_symbol_body())
        except ValueError as wrong:
            self.raise_error(str(wrong), body_span)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        return parse_number_attribute(self)

    def _parse_tensor_literal_element(self) -> _Element:
        element = super()._parse_tensor_literal_element()
        return _Element(element.is_negative, element.value, element.span)

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        name, attribute = super()._parse_attribute_entry()
        return spellings.attribute_name(name), attribute

    # Strings: any bytes, with those that are not UTF-8 as surrogate escapes

    def parse_optional_str_literal(self) -> str | None:
        token = self._parse_optional_token(MLIRTokenKind.STRING_LIT)
        return None if token is None else string_value(token.text)

    def parse_optional_symbol_name(self) -> StringAttr | None:
        token = self._parse_optional_token(MLIRTokenKind.AT_IDENT)
        if token is None:
            return None
        name = token.text[1:]
        return StringAttr(string_value(name) if name.startswith('"') else name)

    def _parse_optional_string_attr(self) -> StringAttr | None:
        text = self.parse_optional_str_literal()
        return None if text is None else StringAttr(text)

    # Aliases

    def _parse_extended_type_or_attribute(  # type: ignore[override]
        self, name: str, is_type: bool
    ) -> Attribute:
        if "." not in name and self._current_token.kind is not MLIRTokenKind.LESS:
            self._find_alias(("!" if is_type else "#") + name)
        parse = cast(Callable[[str, bool], Attribute], super()._parse_extended_type_or_attribute)
        return parse(name, is_type)

    @cached_property
    def _alias_positions(self) -> dict[str, int]:
        """The position after the `=` of each alias's first definition."""
        definitions = reversed(list(_ALIAS.finditer(self.source.text)))
        return {match[1]: match.end() for match in definitions}

    def _find_alias(self, alias: str) -> None:
        """Read the definition of an alias whose use comes first.

        MLIR's printer writes such aliases.
        """
        if alias in self.attribute_aliases:
            self._size += self._alias_sizes[alias]
            return
        position = self._alias_positions.get(alias)
        if position is None or alias in self._open_aliases:
            self.raise_error(f"undefined symbol alias '{alias}'", self._last_end - len(alias))
        here = self.pos
        self._open_aliases.add(alias)
        self._resume_from(position)
        with self._measured(alias):
            self.attribute_aliases[alias] = self.parse_attribute()
        self._open_aliases.discard(alias)
        self._resume_from(here)
        self._size += self._alias_sizes[alias]

    @contextmanager
    def _measured(self, alias: str) -> Iterator[None]:
        """Measure the alias definition that the block reads, and reject it if it is too large."""
        start, size = self.pos, self._size
        self._size = 1
        yield
        self._alias_sizes[alias], self._size = self._size, size
        if self._alias_sizes[alias] > MAX_ALIASES:
            self.raise_error(f"'{alias}' is made of more than {MAX_ALIASES} aliases", start)

    def _parse_alias_def(self) -> None:
        """Parse `#alias = attribute`, unless an earlier use has read it already."""
        token = self._current_token
        if token.text not in self.attribute_aliases:
            with self._measured(token.text):
                super()._parse_alias_def()  # type: ignore[no-untyped-call]
            return
        # A use can only have read the alias's first definition, so any other one is a redefinition.
        if self._alias_positions.get(token.text) != self.source.text.find("=", token.span.end) + 1:
            kind = "type" if token.text.startswith("!") else "attribute"
            self.raise_error(f"redefinition of {kind} alias id '{token.text[1:]}'", token.span)
        self._consume_token()
        self.parse_punctuation("=")
        self.parse_attribute()

    # Locations

    def _parse_location(self) -> LocationAttr:
        if self._current_token.text == "fused":
            return self._parse_fused_location()
        location = super()._parse_location()
        if isinstance(location, FileLineColLoc) and self.parse_optional_keyword("to") is not None:
            # BEF files have only the start of a location, so skip the `:8` or `9:8` after
            # `"f.mlir":7:5 to`.
            if self._current_token.kind is MLIRTokenKind.INTEGER_LIT:
                self.parse_integer(allow_boolean=False, allow_negative=False)
            self.parse_punctuation(":")
            self.parse_integer(allow_boolean=False, allow_negative=False)
        return location

    def _parse_fused_location(self) -> LocationAttr:
        self._consume_token()
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(ArrayAttr(parts), metadata)
