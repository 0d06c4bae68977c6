"""What MLIR refuses is refused at the same place in the same words.

`refused_by_mlir.mlir` has programs, and behind each as a comment what `mlir-opt` 19 says of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.source import SourceError, parse_module

CASES = (Path(__file__).parent / "refused_by_mlir.mlir").read_text().split("// -----\n")


def test_there_are_many() -> None:
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES)
def test_a_program_is_refused_as_by_mlir(case: str) -> None:
    text, _, expected = case.rstrip().rpartition("\n// ")

    with pytest.raises(SourceError) as refusal:
        parse_module(text + "\n", "p")

    first = str(refusal.value).splitlines()[0]
    assert first == f"p:{expected}"
