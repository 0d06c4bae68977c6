"""The examples of the table are programs."""

from __future__ import annotations

import re

import pytest

from tfrt_nb.dialects.catalog import SIGNATURES
from tfrt_nb.language.lint import lint
from tfrt_nb.language.operations import entry, spelled

FAMILIES = sorted(name for name in SIGNATURES if re.search(r"(i32|chain|shape|string)$", name))


@pytest.mark.parametrize("name", FAMILIES)
def test_an_example_has_no_mistake(name: str) -> None:
    found = entry(name)
    assert found is not None
    if not found.example:
        return
    operands = [spelled(word) for word in SIGNATURES[name].operands]
    arguments = ", ".join(f"%{'abcdefgh'[i]}: {type_}" for i, type_ in enumerate(operands))
    kind = " attributes {tfrt.sync}" if "_s." in name or "sync" in name else ""
    text = f"func.func @main({arguments}){kind} {{\n  {found.example}\n  tfrt.return\n}}"
    assert [str(one) for one in lint(text, "example")] == []
