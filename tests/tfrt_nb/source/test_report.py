"""Test diagnostics as the command line shows them."""

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
        "cell 3:3:15: error: '%ome' is not defined\n"
        "  tfrt.return %ome : i32\n"
        "              ^~~~\n"
        "cell 3:3:15: note: use of undeclared SSA value name\n"
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


@pytest.mark.parametrize(
    ("start", "shown"),
    [(1, "wx"), (150, "wx"), (5_000, "wx"), (10_001, "wx"), (5_000, "日本"), (5_000, "e\u0301x")],
)
def test_of_a_long_line_the_part_around_the_caret_is_shown(start: int, shown: str) -> None:
    line = "." * (start - 1) + shown + "." * (10_000 - start)
    found = render(error("wrong", Location("f", 1, start, 1, start + len(shown))), line)

    excerpt, caret = found.split("\n")[1:]
    before, mark, after = excerpt.partition(shown)
    assert mark and len(excerpt) <= 210
    assert caret == " " * len(before) + ("^~~~" if shown == "日本" else "^~")
    assert len(before) < 100 and (after == "" or len(excerpt) > 200)


def test_a_span_that_is_longer_than_what_is_shown_ends_with_it() -> None:
    found = render(error("wrong", Location("f", 1, 5_000, 1, 9_000)), "a" * 10_000)

    excerpt, caret = found.split("\n")[1:]
    assert len(caret) == len(excerpt) - len("...")


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


def test_a_place_far_behind_its_line_has_a_mark_of_bounded_width() -> None:
    place = Location("f", 1, 10**11)
    shown = render(error("wrong", place), "ab")
    assert shown.startswith(f"f:1:{10**11}: error: wrong\nab\n")
    assert shown.endswith("^") and len(shown) < 1000


def test_an_integer_that_python_does_not_read_is_underlined() -> None:
    text = f"func @f() {{\n  %a = tfrt.constant.i32 {'9' * 5000}\n  tfrt.return\n}}\n"
    with pytest.raises(SourceError) as caught:
        parse_module(text, "cell 3")

    [found] = caught.value.diagnostics
    assert found.message == "an integer of 5000 digits: at most 4300 can be read"
    assert found.location == Location("cell 3", 2, 26, 2, 5026)
