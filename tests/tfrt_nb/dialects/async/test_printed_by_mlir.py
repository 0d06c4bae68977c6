"""Programs that `mlir-opt` 19 printed are printed again just so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

PROGRAMS = (Path(__file__).parent / "printed_by_mlir.mlir").read_text().split("// -----\n")


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_is_printed_as_by_mlir(text: str) -> None:
    assert print_ir(parse_module(text, "p")) == text
