"""Test programs from text and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError


def test_a_text_that_is_too_large_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tfrt_nb.programs.reading.MAX_TEXT", 9)

    with pytest.raises(
        TfrtError, match="'big.mlir' is too large for a program: 10 bytes; the limits"
    ):
        Program.from_source("x" * 10, "big.mlir")


PLAIN = """func.func @main() -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
"""


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "marked.mlir").write_text("\ufeff" + PLAIN, encoding="utf-8")

    assert Program.from_file(tmp_path / "marked.mlir").run().result() == 1


def test_a_large_text_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfrt_nb.programs.reading.MAX_LINES", 3)

    with pytest.raises(
        TfrtError, match="'big.mlir' is too large for a program: 4 lines; the limits"
    ):
        Program.from_source(PLAIN, "big.mlir")
