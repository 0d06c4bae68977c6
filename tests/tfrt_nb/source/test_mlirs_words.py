"""Test that programs that MLIR rejects are rejected here at the same place, in the same words.

MLIR's words may be a note after our own sentence. `refused_by_mlir.mlir` has programs, each
followed by comments with what `mlir-opt` 19 says about it; ours may find more.
"""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from tfrt_nb.source import SourceError, parse_module

CASES = (Path(__file__).parent / "refused_by_mlir.mlir").read_text().split("// -----\n")


def test_there_are_a_hundred_cases_and_more() -> None:
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES)
def test_a_program_is_refused_as_by_mlir(case: str) -> None:
    lines = case.rstrip().splitlines()
    expected = list(takewhile(lambda line: line.startswith("// "), reversed(lines)))[::-1]
    text = "\n".join(lines[: -len(expected)])

    with pytest.raises(SourceError) as refusal:
        parse_module(text + "\n", "p")

    found = [
        {str(problem), *(str(one).replace(": note: ", ": error: ") for one in problem.notes)}
        for problem in refusal.value.diagnostics
    ]
    assert len(found) >= len(expected)
    for line, said in zip(expected, found, strict=False):
        assert f"p:{line.removeprefix('// ')}" in said
