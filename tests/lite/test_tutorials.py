"""Test every tutorial in the page, run like *Run All* does; this takes half an hour.

A table in `docs/howto/places.md` lists the cells that need something a page does not have; such a
cell must say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.lite.conftest import Page

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SAYS = re.compile(r"This cell needs (\w+)|needs (numpy)|a page has (no other threads)")
ROW = re.compile(r"^\| \[(\w+)\]\(\S+\) \| (.+?) \| (threads|numpy) \|", re.MULTILINE)


def table() -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the docs' table: the tutorial, the section, and what its cell needs."""
    return map(re.Match.groups, ROW.finditer((ROOT / "docs/howto/places.md").read_text()))


def sections(name: str) -> list[str]:
    """Return the section of each code cell in a notebook of the site."""
    found, heading = [], ""
    for cell in json.loads((ROOT / "build/lite/files" / name).read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.append(heading)
        else:
            heading = (re.findall(r"^#+ (.*)", text, re.MULTILINE) or [heading])[-1]
    return found


def text_of(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    return "".join(output.get("data", {}).get("text/plain", ""))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_in_the_page_from_its_first_cell_to_its_last(
    page: Page, path: Path
) -> None:
    page.open(path.name)
    counts, outputs = page.run_all()
    page.picture(f"tutorial_{path.stem}")
    page.close()

    assert [at for at, count in enumerate(counts) if count is None] == []
    errors = [
        (at, one["ename"], one["evalue"])
        for at, found in enumerate(outputs)
        for one in found
        if one["output_type"] == "error"
    ]
    assert errors == []
    needs = {
        (path.stem, sections(path.name)[at], "numpy" if "numpy" in said.groups() else "threads")
        for at, found in enumerate(outputs)
        for one in found
        for said in SAYS.finditer(text_of(one))
    }
    assert needs == {row for row in table() if row[0] == path.stem}
