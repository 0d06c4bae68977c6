"""Diagnostics as the command line shows them."""

from __future__ import annotations

import pytest

from tfrt_nb.report import render, render_all
from tfrt_nb.source import SourceError, parse_module
from tfrt_runtime.diagnostics import Location, OpaqueLocation, error, note


def test_the_caret_underlines_the_span_and_notes_follow() -> None:
    text = "func @f() {\n  %one = tfrt.constant.i32 1\n  tfrt.return %ome : i32\n}\n"
    with pytest.raises(SourceError) as caught:
        parse_module(text, "cell 3")

    assert render_all(caught.value.diagnostics, text) == (
        "cell 3:3:15: error: use of undeclared SSA value name\n"
        "  tfrt.return %ome : i32\n"
        "              ^~~~\n"
        "cell 3:2:3: note: did you mean '%one'?\n"
        "  %one = tfrt.constant.i32 1\n"
        "  ^~~~"
    )


@pytest.mark.parametrize(
    ("line", "location", "shown"),
    [
        ("ab cd", Location("f", 1, 4), "ab cd\n   ^"),
        ("ab cd", Location("f", 1, 4, 1, 6), "ab cd\n   ^~"),
        ("ab cd", Location("f", 1, 4, 2, 1), "ab cd\n   ^~"),
        ("ab cd", Location("f", 1, 6), "ab cd\n     ^"),
        ("\tab", Location("f", 1, 2, 1, 4), "        ab\n        ^~"),
        ("a\tb", Location("f", 1, 3), "a       b\n        ^"),
        ("日本 x", Location("f", 1, 4), "日本 x\n     ^"),
        ("日本 x", Location("f", 1, 1, 1, 3), "日本 x\n^~~~"),
        ("e\u0301 x", Location("f", 1, 4), "e\u0301 x\n  ^"),
    ],
)
def test_the_caret_stays_below_what_it_means(line: str, location: Location, shown: str) -> None:
    assert (
        render(error("wrong", location), line + "\nnext")
        == f"f:1:{location.column}: error: wrong\n{shown}"
    )


def test_without_the_text_only_messages_are_shown() -> None:
    diagnostic = error("wrong", Location("f", 3, 4), [note("because", Location("f", 1, 1))])

    assert render(diagnostic) == "f:3:4: error: wrong\nf:1:1: note: because"


def test_notes_about_another_source_are_shown_without_a_line() -> None:
    diagnostic = error("wrong", Location("f", 1, 1), [note("because", Location("g", 1, 1))])

    assert render(diagnostic, "text") == "f:1:1: error: wrong\ntext\n^\ng:1:1: note: because"


def test_places_that_are_not_in_the_text_are_just_named() -> None:
    assert render(error("wrong", OpaqueLocation("layer7")), "text") == '"layer7": error: wrong'
    assert render(error("wrong"), "text") == "<unknown>:0: error: wrong"
    assert render(error("wrong", Location("f", 9, 1)), "text") == "f:9:1: error: wrong"
