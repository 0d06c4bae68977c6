"""Test that notebooks saved with an earlier build open and replay, without a kernel.

The files in `tests/magics/saved` were saved by 0.1.0 (commit 25f0f40c). Do not save them again:
they represent what users have on disk.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SAVED = Path(__file__).parents[1] / "saved"


@pytest.mark.parametrize(
    ("name", "status", "value", "state", "shown"),
    [
        ("host", "done", "%sum", "available", "4"),
        ("async", "done", "%sum", "available", "42"),
        ("failed", "failed", "%share", "error", "Divide by zero"),
    ],
)
def test_a_notebook_of_an_earlier_build_opens_and_replays(
    notebook, name: str, status: str, value: str, state: str, shown: str
) -> None:
    page = notebook.page
    shutil.copy(SAVED / f"{name}.ipynb", notebook.lab.notebooks)
    notebook.open(f"{name}.ipynb", kernel=False)
    board = page.locator(f".tfrt-board[data-status='{status}']")
    board.wait_for()
    row = board.locator(f"[data-value='{value}']")
    assert row.get_attribute("data-state") == state
    assert shown in row.inner_text()
    notebook.picture(f"saved-{name}")

    end = board.get_attribute("data-time")
    board.get_by_label("Replay", exact=True).evaluate(
        "(node) => { node.value = 0; node.dispatchEvent(new Event('input')) }"
    )
    page.wait_for_selector(".tfrt-board[data-time='0']")
    assert row.get_attribute("data-state") != state
    while board.get_attribute("data-time") != end:
        board.get_by_role("button", name="Step forward").click()
    assert row.get_attribute("data-state") == state
