"""Test errors that point at the cell's own lines."""

from __future__ import annotations

import pytest

from tfrt_magics.views.diagnostics import (
    CellText,
    diagnostics_bundle,
    diagnostics_text,
    underline_of,
)
from tfrt_runtime.diagnostics import Location, OpaqueLocation, error, note

CELL = CellText(
    "cell 3",
    """
func @main() -> i32 {
  %one = tfrt.constant.i32 1
\t%two = "tfrt.minus.i32"(%one) : (i32) -> i32
  tfrt.return %tow : i32
}
""",
)


def at(line: int, column: int, end_line: int = 0, end_column: int = 0) -> Location:
    return Location("cell 3", line, column, end_line, end_column)


@pytest.mark.parametrize(
    ("location", "text"),
    [
        pytest.param(at(5, 15, 5, 19), "%tow", id="a span"),
        pytest.param(at(5, 15), "%tow", id="a point means the word there"),
        pytest.param(at(5, 3), "tfrt.return", id="an operation"),
        pytest.param(at(4, 9), '"tfrt.minus.i32"', id="an operation in quotes"),
        pytest.param(at(2, 6, 6, 2), "@main() -> i32 {", id="several lines: the first of them"),
        pytest.param(at(5, 99), "", id="past the end"),
    ],
)
def test_the_offending_text_is_underlined(location: Location, text: str) -> None:
    assert underline_of(error("wrong", location), CELL).parts[1] == text


@pytest.mark.parametrize(
    "location",
    [None, OpaqueLocation("unknown"), Location("other.mlir", 5, 3), at(99, 1)],
)
def test_what_is_not_about_the_cell_is_not_underlined(location) -> None:
    assert underline_of(error("wrong", location), CELL) is None


def test_text_has_each_line_with_a_caret_and_the_notes() -> None:
    problem = error(
        "%tow is not defined", at(5, 15, 5, 19), [note("did you mean %two?", at(4, 2, 4, 6))]
    )
    assert diagnostics_text([problem, error("no place")], CELL) == (
        "cell 3:5:15: error: %tow is not defined\n"
        "    tfrt.return %tow : i32\n"
        "                ^^^^\n"
        "cell 3:4:2: note: did you mean %two?\n"
        '  \t%two = "tfrt.minus.i32"(%one) : (i32) -> i32\n'
        "  \t^^^^\n"
        "error: no place"
    )


def test_the_bundle_has_the_positions_that_an_editor_underlines() -> None:
    problem = error("%tow <is> not defined", at(5, 15), [note("see here", at(2, 6, 2, 11))])
    bundle = diagnostics_bundle([problem, error("no place")], CELL)

    assert bundle["application/vnd.tfrt.diagnostics+json"] == [
        {"line": 5, "col": 15, "end": 19, "sev": "error", "msg": "%tow <is> not defined"},
        {"line": 2, "col": 6, "end": 11, "sev": "note", "msg": "see here"},
    ]
    assert "%tow &lt;is&gt; not defined" in bundle["text/html"]
    assert 'font-weight: bold">%tow</span> : i32</pre>' in bundle["text/html"]


def test_a_message_of_any_length_and_with_any_characters_is_cut_and_escaped() -> None:
    bundle = diagnostics_bundle([error("\u202ex\ud800\n" + "y" * 10_000, at(5, 15))], CELL)
    (mark,) = bundle["application/vnd.tfrt.diagnostics+json"]
    assert mark["msg"].startswith("\\u202ex\\ud800\ny")
    assert mark["msg"].endswith("y … and 8004 more characters")
    assert mark["msg"] in bundle["text/html"]
    assert mark["msg"] in bundle["text/plain"]
