"""A program from text or from a file."""

from __future__ import annotations

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError


def test_a_text_that_is_too_large_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tfrt_nb.programs.MAX_TEXT", 9)

    with pytest.raises(TfrtError, match="'big.mlir' is too large for a program: 10 bytes, of at"):
        Program.from_source("x" * 10, "big.mlir")
