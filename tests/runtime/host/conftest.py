"""Tests of the host leave nothing behind."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def nothing_is_left(leak_check: None) -> None:
    """Every test of this folder is checked."""
