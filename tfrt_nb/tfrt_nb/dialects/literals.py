"""Parse numbers and check their range."""

from __future__ import annotations

from contextlib import suppress
from math import isinf

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    Float64Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import MultipleSpansParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tfrt_nb.dialects.types import I1, I32, I64

F64 = Float64Type()

_set_field = object.__setattr__  # attributes are frozen
_NUMBER_KINDS = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT)


def parse_optional_number(parser: AttrParser) -> Span | None:
    """Parse a number with its sign, or `true` or `false`, and return its span.

    Return None if something else comes next.
    """
    token = parser._current_token
    if token.kind in _NUMBER_KINDS or token.text in ("true", "false"):
        parser._consume_token()
        return token.span
    if token.kind != MLIRTokenKind.MINUS:
        return None
    parser._consume_token()
    number = parser._current_token
    if number.kind not in _NUMBER_KINDS:
        parser.raise_error("expected a number after '-'")
    parser._consume_token()
    return Span(token.span.start, number.span.end, token.span.input)


def number_attribute(
    parser: AttrParser, span: Span, number_type: Attribute
) -> IntegerAttr | FloatAttr:
    """Return the number at `span` as an attribute of this type.

    Raises:
        ParseError: if the number is out of range or does not fit the type. The error uses MLIR's
            words and place.
    """
    if isinstance(number_type, AnyFloat):
        return _float_attribute(parser, span, number_type)
    if not isinstance(number_type, IntegerType | IndexType):
        parser.raise_error("expected an integer or float type", span)
    return _integer_attribute(parser, span, number_type)


def default_type(span: Span) -> Attribute:
    """Return the type of a number that is written without a type."""
    if span.text in ("true", "false"):
        return I1
    return F64 if _is_float(span.text) else I64


def _is_float(text: str) -> bool:
    # In MLIR, a float must have a point. An `e` may be a hexadecimal digit.
    return "." in text


def _integer_attribute(
    parser: AttrParser, span: Span, number_type: IntegerType | IndexType
) -> IntegerAttr:
    text = _without_spaces(span)
    if _is_float(text):
        # MLIR reports this at the token after the number, where a reader would not look.
        parser.raise_error("floating point value not valid for specified type", span)
    if text in ("true", "false"):
        if number_type != I1:
            parser.raise_error("expected an integer; 'true' and 'false' are of type i1", span)
        return IntegerAttr(int(text == "true"), I1)
    value = integer_value(text)
    if value < 0 and _signedness(number_type) is Signedness.UNSIGNED:
        message = "negative integer literal not valid for unsigned integer type"
        parser.raise_error(message, _digits(span))
    if not _fits(value, number_type):
        parser.raise_error("integer constant out of range for attribute", _digits(span))
    return IntegerAttr(value, number_type)


def _digits(span: Span) -> Span:
    """Return the span without the sign, at which MLIR reports problems of a number."""
    digits = span.text.removeprefix("-").split()[-1]
    return Span(span.end - len(digits), span.end, span.input)


def _without_spaces(span: Span) -> str:
    """Return the number at `span` without the space or comment that may follow its sign."""
    return "-" + _digits(span).text if span.text.startswith("-") else span.text


def _signedness(number_type: Attribute) -> Signedness:
    if isinstance(number_type, IntegerType):
        signedness: Signedness = number_type.signedness.data
        return signedness
    return Signedness.SIGNED


def _fits(value: int, number_type: IntegerType | IndexType) -> bool:
    """Return whether MLIR accepts the literal.

    A signless integer may be written as a signed or as an unsigned number.
    """
    bits = 64 if isinstance(number_type, IndexType) else number_type.width.data
    signed = _signedness(number_type) is Signedness.SIGNED
    return -(1 << bits - 1) <= value < 1 << (bits - 1 if signed else bits)


def integer(value: int, number_type: IntegerType | IndexType) -> IntegerAttr:
    """Build the attribute `value : number_type` at a third of the cost of xDSL's constructor.

    The value must be in the type's range.
    """
    number = IntAttr.__new__(IntAttr)
    _set_field(number, "data", value)
    attribute: IntegerAttr = IntegerAttr.__new__(IntegerAttr)
    _set_field(attribute, "value", number)
    _set_field(attribute, "type", number_type)
    return attribute


def integer_value(text: str) -> int:
    """Return the value of an integer literal, decimal or hexadecimal."""
    return int(text, 16) if "x" in text else int(text)


def _float_attribute(parser: AttrParser, span: Span, number_type: AnyFloat) -> FloatAttr:
    text = _without_spaces(span)
    if number_type.bitwidth > F64.bitwidth:  # xDSL cannot print such a number
        parser.raise_error(f"a number of type {number_type} is not supported: use f64", span)
    if "x" in text:
        return FloatAttr(_float_of_bits(parser, span, number_type), number_type)
    if not _is_float(text):
        message = "unexpected decimal integer literal for a floating point value"
        hint = (_digits(span), "add a trailing dot to make the literal a float")
        raise MultipleSpansParseError(_digits(span), message, None, [hint])
    number = float(text)
    with suppress(OverflowError):  # xDSL 0.75 rounds to infinity instead
        attribute = FloatAttr(number, number_type)
        # MLIR reads a number beyond the range of f64 as infinity, but rejects one that only the
        # narrower type cannot represent.
        if isinf(number) or not isinf(attribute.value.data):
            return attribute
    parser.raise_error(f"floating point constant out of range for {number_type}", span)


def _float_of_bits(parser: AttrParser, span: Span, number_type: AnyFloat) -> float:
    bits = integer_value(_without_spaces(span))
    size: int = number_type.compile_time_size
    if bits < 0:
        message = "hexadecimal float literal should not have a leading minus"
        parser.raise_error(message, _digits(span))
    if bits >= 2 ** (8 * size):
        parser.raise_error("hexadecimal float constant out of range for type", span)
    return float(number_type.unpack(bits.to_bytes(size, "little"), 1)[0])


def parse_number_attribute(parser: AttrParser) -> IntegerAttr | FloatAttr | None:
    """Parse `7`, `7 : i32`, `0x7F800000 : f32`, or `true`, if a number comes next."""
    span = parse_optional_number(parser)
    if span is None:
        return None
    number_type = default_type(span)
    # MLIR reads no type after `true` and `false`.
    if number_type != I1 and parser.parse_optional_punctuation(":") is not None:
        number_type = parser.parse_type()
    return number_attribute(parser, span, number_type)


def parse_literal(parser: AttrParser, number_type: Attribute) -> Attribute:
    """Parse a number of this type. The type may also be written after the number."""
    literal = parse_optional_literal(parser, number_type)
    if literal is None:
        parser.raise_error(f"expected a constant of type {number_type}")
    return literal


def parse_optional_literal(parser: AttrParser, number_type: Attribute) -> Attribute | None:
    """Parse a number as `parse_literal` does, or return None if no number comes next."""
    span = parse_optional_number(parser)
    if span is None:
        return None
    literal = number_attribute(parser, span, number_type)
    if parser.parse_optional_punctuation(":") is not None:
        written = parser.parse_type()
        if written != number_type:
            parser.raise_error(f"expected a constant of type {number_type}, not {written}", span)
    return literal


def parse_array(parser: AttrParser, number_type: Attribute) -> ArrayAttr[Attribute]:
    """Parse an array of numbers of this type, such as `[2 : i64, 3]`.

    Programs for the first TFRT versions write the dimensions of an i64 shape as `2: i32`, which is
    accepted, too.
    """

    def parse_element() -> Attribute:
        span = parse_optional_number(parser)
        if span is None:
            parser.raise_error(f"expected a constant of type {number_type}")
        if parser.parse_optional_punctuation(":") is not None:
            written = parser.parse_type()
            if written != number_type and (written, number_type) != (I32, I64):
                parser.raise_error(f"expected constants of type {number_type}, not {written}", span)
        return number_attribute(parser, span, number_type)

    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_element))
