"""Test that reading and writing the corpus gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.writer import write_bef

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
FILES = sorted(
    path
    for pattern in ("*.bef", "*.bef_min")
    for path in GOLDEN.glob(pattern)
    if not path.name.startswith("malformed_") or path.stem == "malformed_base"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_written_as_it_was_read(path: Path) -> None:
    data = path.read_bytes()

    for file in (BefFile.load(data), BefFile.open(path)):
        assert write_bef(file) == data
