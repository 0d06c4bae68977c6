"""Run the notebooks in `examples/` with a small input, and check their claims and output."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PRINTED = {
    "crawler": ["9 pages", "the same pages", "/9: 404", "3 pages"],
    "numeric_pipeline": ["tfrt-nb", "19 good tiles", "element 13 of 20", "True"],
    "ml_pipeline": ["tfrt-nb", "2 LinAlgError: singular matrix", "4 ok", "True"],
}
SCALES = {"crawler": "0.2", "numeric_pipeline": "0.02", "ml_pipeline": "0.02"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_project_runs_with_a_small_input(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALE", SCALES[path.stem])
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": os.fspath(FOLDER)}}
    )
    client.execute()

    outputs = [one for cell in notebook.cells for one in cell.get("outputs", ())]
    printed = "".join(one.text for one in outputs if one.output_type == "stream")
    assert [said for said in PRINTED[path.stem] if said not in printed] == []


def test_each_project_was_saved_with_its_outputs() -> None:
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert any(cell.get("outputs") for cell in cells), path.name
    assert {path.stem for path in NOTEBOOKS} == {*PRINTED}
