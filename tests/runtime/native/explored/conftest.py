"""Let threads cut few blocks from a slab, because each schedule cuts and frees them."""

from __future__ import annotations

import pytest

from tfrt_runtime.native import cells


@pytest.fixture(autouse=True)
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a thread cut only a few blocks at once."""
    monkeypatch.setattr(cells, "CARVED_AT_ONCE", 4)
