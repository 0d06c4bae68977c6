"""Test that every program of the corpus is accepted and printed as there, or rejected as there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.source import SourceError, parse_module
from tfrt_runtime.diagnostics import Location

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
PROGRAMS = sorted(GOLDEN.glob("*.mlir"))

# These are rejected later, when the module becomes a BEF file; their text is right.
ENCODER_ERRORS = {
    "reject_declaration",
    "reject_dictionary_attr",
    "reject_index_attr",
    "reject_missing_symbol",
    "reject_nonstrict_attr",
    "reject_odd_width_attr",
    "reject_other_last_operation",
    "reject_outer_value",
    "reject_sync_argument",
    "reject_sync_duplicate",
    "reject_tensor_type_attr",
    "reject_two_blocks",
    "reject_two_blocks_function",
    "reject_two_blocks_region",
    "reject_unit_attr",
}

# Each parser has its own words for syntax errors: these are ours, the corpus has the reference's.
OUR_WORDS = {
    "reject_case_without_operands": "expected a type",
    "reject_parallel_callee": "expected a type",
    "reject_unclosed": "expected '}': a region is not closed",
}

PLACES = {"reject_wrong_literal": (2, 26)}
"""The place of the number; the reference points at the line below it."""

# A BEF file does not store these, so they are missing after disassembly.
LOST_IN_BEF = {
    "empty_function": ("func private", "func"),
    "sync_functions": ("fn = @affine", "callee = @affine"),
}


def refusals() -> dict[str, list[tuple[int, int, str]]]:
    """Return the errors of the programs that the front end rejects: line, column, and message."""
    found = {}
    for path in GOLDEN.glob("reject_*.error"):
        text = path.read_text()
        if "stage: translate" in text and path.stem not in ENCODER_ERRORS:
            errors = re.findall(r"^\S+?:(\d+):(\d+): error: (.*)$", text, re.MULTILINE)
            found[path.stem] = [(int(line), int(column), text) for line, column, text in errors]
    return found


REFUSALS = refusals()
ACCEPTED = [path for path in PROGRAMS if path.stem not in REFUSALS]


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_is_printed_as_the_disassembler_does(path: Path) -> None:
    expected = path.with_suffix(".bef_to_mlir")
    printed = print_module(parse_module(path.read_text(), path.name))

    if expected.exists():
        assert printed.replace(*LOST_IN_BEF.get(path.stem, ("", ""))) == expected.read_text()


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
@pytest.mark.parametrize("head", [False, True], ids=["2022", "head"])
def test_what_is_printed_is_read_back_the_same(path: Path, head: bool) -> None:
    printed = print_module(parse_module(path.read_text(), path.name), head=head)

    assert print_module(parse_module(printed, "printed"), head=head) == printed


@pytest.mark.parametrize("name", sorted(REFUSALS))
def test_is_refused_at_the_place_and_for_the_reason(name: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_module((GOLDEN / f"{name}.mlir").read_text(), f"{name}.mlir")

    expected = [
        (*PLACES.get(name, (line, column)), OUR_WORDS.get(name, text))
        for line, column, text in REFUSALS[name]
    ]
    # Our own sentence may come first; the recorded words are then a note at the same place.
    said = [
        {
            (one.location.line, one.location.column, one.message)
            for one in (diagnostic, *diagnostic.notes)
            if isinstance(one.location, Location) and one.location == diagnostic.location
        }
        for diagnostic in caught.value.diagnostics
    ]
    assert len(said) == len(expected)
    assert all(one in found for one, found in zip(expected, said, strict=True))
