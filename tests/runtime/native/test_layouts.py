"""Test the structs that native code and Python share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfrt_runtime.native import layouts
from tfrt_runtime.native.layouts import declared
from tfrt_runtime.native.layouts.declared import at, line, struct

ROOT = Path(__file__).parents[3]
SOURCES = [path for part in ("runtime", "tfrt_nb", "tests") for path in (ROOT / part).rglob("*.py")]


def test_every_field_that_code_names_is_declared() -> None:
    named = {
        field
        for path in SOURCES
        if "layouts as at" in (text := path.read_text())
        for field in re.findall(r"\bat\.([A-Z]\w+)", text)
    }

    assert len(named) > 60
    assert named <= vars(layouts).keys()


def test_offsets_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "FIELDS", {})
    monkeypatch.setattr(declared, "OFFSETS", {})
    struct("ROW", table=16, FIRST="", AGAIN=at(0), OTHER="", SHARED=line())

    assert declared.FIELDS == {"ROW": {"FIRST": 0, "AGAIN": 0, "OTHER": 8, "SHARED": 64}}
    assert declared.OFFSETS == {
        "ROW_FIRST": 0,
        "ROW_AGAIN": 0,
        "ROW_OTHER": 8,
        "ROW_SHARED": 64,
        "ROW_SIZE": 80,
    }
