"""Test that `tfrt-nb share` prints a program as a link."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from pathlib import Path

from pytest import CaptureFixture

from tfrt_nb.cli.main import main


def test_the_fragment_of_the_link_is_the_source(
    tmp_path: Path, capsys: CaptureFixture[str]
) -> None:
    source = 'func.func @main() -> i32 { // ÷ "≥" 😀\n}'
    path = tmp_path / "program.mlir"
    path.write_text(f"\n{source}\n")

    assert main(["share", str(path), "--site", "https://example.org/course"]) == 0

    address, _, packed = capsys.readouterr().out.strip().partition("#tfrt=")
    assert address == "https://example.org/course/lab/index.html"
    assert urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode() == source


def test_a_file_that_is_missing_is_an_error(tmp_path: Path, capsys: CaptureFixture[str]) -> None:
    assert main(["share", str(tmp_path / "none.mlir")]) == 1
    assert "cannot read" in capsys.readouterr().err
