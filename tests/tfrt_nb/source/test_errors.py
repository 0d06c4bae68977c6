"""What a mistake in the text is answered with: the words, and the place that the arrow hits."""

from __future__ import annotations

import pytest

from tfrt_nb.source import SourceError, parse_module
from tfrt_runtime.diagnostics import Diagnostic, Location


def pointed_at(text: str, diagnostic: Diagnostic) -> str:
    """The part of `text` that the diagnostic's location spans."""
    location = diagnostic.location
    assert isinstance(location, Location)
    lines = text.split("\n")[location.line - 1 : location.end_line]
    lines[-1] = lines[-1][: location.end_column - 1]
    lines[0] = lines[0][location.column - 1 :]
    return "\n".join(lines)


def errors(text: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each error of `text`: its message, what it points at, and the same of its notes."""
    with pytest.raises(SourceError) as caught:
        parse_module(text, "text")
    return [
        (
            diagnostic.message,
            pointed_at(text, diagnostic),
            [(note.message, pointed_at(text, note)) for note in diagnostic.notes],
        )
        for diagnostic in caught.value.diagnostics
    ]


def in_function(*lines: str) -> str:
    """A function with an i32 argument %a and a chain %c around `lines`."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"func @f(%a: i32, %c: !tfrt.chain) {{\n{body}\n  tfrt.return\n}}\n"


ONE_ERROR = {
    "an undefined value": (
        "%b = tfrt.add.i32 %a, %missing",
        ("use of undeclared SSA value name", "%missing", []),
    ),
    "an undefined value that resembles another": (
        "%total = tfrt.add.i32 %a, %a\n  %b = tfrt.add.i32 %a, %totla",
        (
            "use of undeclared SSA value name",
            "%totla",
            [("did you mean '%total'?", "%total")],
        ),
    ),
    "a value of another type": (
        "%b = tfrt.add.i32 %a, %c",
        (
            "use of value '%c' expects different type than prior uses: 'i32' vs '!tfrt.chain'",
            "%c",
            [("prior use here", "%c")],
        ),
    ),
    "a name given twice": (
        "%b = tfrt.add.i32 %a, %a\n  %b = tfrt.add.i32 %a, %a",
        ("redefinition of SSA value '%b'", "%b", [("previously defined here", "%b")]),
    ),
    "a name given twice in one list": (
        "%b, %b = tfrt.div.i32 %a, %a",
        ("redefinition of SSA value '%b'", "%b", [("previously defined here", "%b")]),
    ),
    "too few names": (
        "%q = tfrt.div.i32 %a, %a",
        ("operation defines 2 results but was provided 1 to bind", "%q", []),
    ),
    "a name for nothing": (
        "%q = tfrt.return",
        ("cannot name an operation with no results", "%q", []),
    ),
    "a part that a result has not": (
        "%q:2 = tfrt.div.i32 %a, %a\n  %b = tfrt.add.i32 %q#2, %a",
        ("reference to invalid result number", "%q", [("'%q' has 2 results", "%q")]),
    ),
    "too few operands": (
        "%b = tfrt.add.i32 %a",
        ("'tfrt.add.i32' takes 2 operands (i32, i32), but 1 is given", "%a", []),
    ),
    "an operation that resembles another": (
        "%b = tfrt.ad.i32 %a, %a",
        (
            "custom op 'tfrt.ad.i32' is unknown",
            "tfrt.ad.i32",
            [("did you mean 'tfrt.add.i32'?", "tfrt.ad.i32")],
        ),
    ),
    "an operation of a foreign dialect without quotes": (
        "%b = golden.op %a",
        (
            "custom op 'golden.op' is unknown",
            "golden.op",
            [
                (
                    'register it with @tfrt.kernel("golden.op"), or write "golden.op"(...) : (...) -> (...)',
                    "golden.op",
                )
            ],
        ),
    ),
    "an operation without fixed types in short form": (
        "%b = tfrt.alias.value %c, %a",
        (
            "'tfrt.alias.value' takes operands of any type: write it in quotes, with its types",
            "%c",
            [],
        ),
    ),
    "fewer types than operands": (
        "%b = tfrt.call @f(%a, %c) : (i32) -> i32",
        (
            "2 operands given, but the types of 1 listed",
            "(",
            [("the operands have the types (i32, !tfrt.chain)", "")],
        ),
    ),
    "an unknown type of tensors": (
        '%b = "golden.op"() : () -> !t.matrix',
        ("unknown tensor type: matrix", "matrix", []),
    ),
    "an unknown type of shapes": (
        '%b = "golden.op"() : () -> !ts.form',
        ("unknown shape type: form", "form", []),
    ),
    "a literal out of range": (
        "%b = tfrt.constant.i32 -2147483649",
        ("integer constant out of range for attribute", "2147483649", []),
    ),
    "a negative unsigned literal": (
        "%b = tfrt.constant.ui32 -1",
        ("negative integer literal not valid for unsigned integer type", "1", []),
    ),
    "an integer for a float": (
        "%b = tfrt.constant.f32 1",
        (
            "unexpected decimal integer literal for a floating point value",
            "1",
            [("add a trailing dot to make the literal a float", "1")],
        ),
    ),
    "a float that is too large": (
        "%b = tfrt.constant.f32 1.0e39",
        ("floating point constant out of range for f32", "1.0e39", []),
    ),
    "bits that are too many": (
        "%b = tfrt.constant.f32 0x1FFFFFFFF",
        ("hexadecimal float constant out of range for type", "0x1FFFFFFFF", []),
    ),
    "no literal": (
        "%b = tfrt.constant.i32 %a",
        ("expected a constant of type i32", "%a", []),
    ),
    "a literal of another type": (
        "%b = tfrt_dht.fill_tensor_with_constant.f32 %a, %c 1.0 : f64",
        ("expected a constant of type f32, not f64", "1.0", []),
    ),
    "a malformed shape": (
        '"golden.op"() {shape = #corert.shape<2x>} : () -> ()',
        ("expected a shape like <2x?>, <> or <*>", "<", []),
    ),
    "an unknown escape": (
        '"golden.op"() {text = "a\\q"} : () -> ()',
        ("unknown escape in string literal", "", []),
    ),
    "an unknown alias": (
        '"golden.op"() {value = #nowhere} : () -> ()',
        ("undefined symbol alias '#nowhere'", "#nowhere", []),
    ),
    "a strange character": ("%b = ;", ("unexpected character ';'", ";", [])),
    "the same argument twice": (
        "%t = tfrt.constant.i1 true\n  tfrt.if %t, %a, %a : (i32, i32) -> () { tfrt.return }",
        ("region entry argument '%a' is already in use", "%a", []),
    ),
    "a value from outside of a body": (
        "%t = tfrt.constant.i1 true\n  tfrt.if %t : () -> () { tfrt.print.i32 %a\n tfrt.return }",
        (
            "use of undeclared SSA value name",
            "%a",
            [("'%a' is defined outside, here: make it an operand of 'tfrt.if'", "%a")],
        ),
    ),
    "a jump to nowhere": (
        '"golden.jump"() [^end] : () -> ()',
        ("reference to an undefined block '^end'", "^end", []),
    ),
}


@pytest.mark.parametrize("mistake", ONE_ERROR)
def test_the_message_says_what_is_wrong_and_the_arrow_hits_it(mistake: str) -> None:
    lines, expected = ONE_ERROR[mistake]

    assert errors(in_function(lines)) == [expected]


def test_a_region_that_is_not_closed_is_noticed_at_the_end_of_the_text() -> None:
    assert errors("func @f() {\n  tfrt.return\n") == [
        ("expected '}': a region is not closed", "", [("the region opens here", "{")])
    ]


def test_a_string_that_is_not_closed_is_noticed_at_the_end_of_its_line() -> None:
    text = in_function('%s = tfrt_test.get_string {value = "open}')
    with pytest.raises(SourceError) as caught:
        parse_module(text, "text")

    assert caught.value.diagnostics[0].location == Location("text", 2, 44)


def test_an_empty_function_body_is_refused() -> None:
    assert errors("func @f() {\n}\n")[0][0] == "expected non-empty function body"


def test_each_function_reports_its_own_first_error() -> None:
    text = """
func @first() -> i32 {
  %a = tfrt.constant.i32 x
  %b = tfrt.nothing
}
func @second() -> i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %b : i32
}
func @third() {
  tfrt.retrun
}
"""
    assert [message for message, _, _ in errors(text)] == [
        "expected a constant of type i32",
        "use of undeclared SSA value name",
        "custom op 'tfrt.retrun' is unknown",
    ]


def test_functions_in_a_nested_module_are_recovered_as_well() -> None:
    text = """
module @outer {
  func @first() {
    %a = tfrt.nothing
  }
  func @second() {
    %a = tfrt.constant.i32 x
    tfrt.return
  }
}
"""
    assert [message for message, _, _ in errors(text)] == [
        "custom op 'tfrt.nothing' is unknown",
        "expected a constant of type i32",
    ]


def test_nesting_too_deep_is_an_error_like_others() -> None:
    depth = 5000
    opening, closing = "tfrt.if %c, %c : (i1) -> () {\n", "tfrt.return\n}\n"
    text = f"func @f(%c: i1) {{\n{opening * depth}{closing * depth}tfrt.return\n}}\n"
    with pytest.raises(SourceError) as caught:
        parse_module(text, "text")

    assert caught.value.diagnostics[0].message == "regions nest more than 1024 deep"


@pytest.mark.parametrize(("opening", "closing"), [("tuple<", ">"), ("!async.value<", ">")])
def test_types_nested_too_deep_are_an_error_at_their_line(opening: str, closing: str) -> None:
    text = f"\nfunc @f(%c: {opening * 50_000}i32{closing * 50_000}) {{\ntfrt.return\n}}\n"

    with pytest.raises(SourceError) as caught:
        parse_module(text, "text")

    [found] = caught.value.diagnostics
    assert found.message == "types or attributes nest more than 1024 deep"
    assert isinstance(found.location, Location) and found.location.line == 2


@pytest.mark.parametrize("text", ["", "// only a comment", "\n\n"])
def test_an_empty_text_is_an_empty_module(text: str) -> None:
    assert not parse_module(text, "text").body.block.ops
