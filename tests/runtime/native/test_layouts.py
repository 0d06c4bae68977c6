"""The structs that native code and Python share."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tfrt_runtime.native import async_layouts, layouts, python_layouts
from tfrt_runtime.native.declared import at, declarer, line

ROOT = Path(__file__).parents[3]
SOURCES = [path for part in ("runtime", "tfrt_nb", "tests") for path in (ROOT / part).rglob("*.py")]


@pytest.mark.parametrize(
    ("name", "module"), [("at", layouts), ("co", async_layouts), ("py", python_layouts)]
)
def test_every_field_that_code_names_is_declared(name: str, module: ModuleType) -> None:
    named = {
        field
        for path in SOURCES
        if f"{module.__name__.rpartition('.')[2]} as {name}" in (text := path.read_text())
        for field in re.findall(rf"\b{name}\.([A-Z]\w+)", text)
    }

    assert len(named) > 20
    assert named <= vars(module).keys()


def test_offsets_are_computed() -> None:
    names: dict[str, object] = {}
    declarer(names)("ROW", table=16, FIRST="", AGAIN=at(0), OTHER="", SHARED=line())

    names.pop("FIELDS")
    assert names == {
        "ROW_FIRST": 0,
        "ROW_AGAIN": 0,
        "ROW_OTHER": 8,
        "ROW_SHARED": 64,
        "ROW_SIZE": 80,
    }
