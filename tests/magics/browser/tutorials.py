"""Test every tutorial in a real JupyterLab, run as a learner does: `make test-everywhere`.

This takes a quarter of an hour. No test folder includes this file, because its name does not begin
with `test_`: name it to run it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "notebooks"
TUTORIALS = sorted(FOLDER.glob("[0-9]*.ipynb"))
AGAIN = [path for path in TUTORIALS if path.stem[:2] in ("01", "06", "08", "10")]
"""The tutorials that keep most between cells: boxes, kernels, threads, and runs that go on."""
CELLS = "window.jupyterapp.shell.currentWidget.content.widgets"
RAN = f"""() => {CELLS}.filter(cell => cell.outputArea).map(({{ model, inputArea }}) => ({{
  source: model.sharedModel.source, count: model.executionCount, outputs: model.outputs.toJSON(),
}}))"""
BOARDS = """node => [...node.querySelectorAll(".tfrt-board, .tfrt-values")].map(board => ({
  status: board.dataset.status ?? "of values", rows: board.shadowRoot.querySelectorAll(".row").length,
  height: board.clientHeight, isCut: board.scrollWidth > board.clientWidth,
  hasWorkers: [...board.shadowRoot.querySelectorAll("[role=columnheader]")].some(head =>
    head.textContent === "worker" && getComputedStyle(head).visibility === "visible"),
}))"""  # noqa: E501
RUN_MIME = "application/vnd.tfrt.run.v2+json"


def opened(notebook: Any, path: Path) -> None:
    """Open a copy of a tutorial, with its pictures."""
    for one in (path, *FOLDER.glob(f"{path.stem}*.svg")):
        shutil.copy(one, notebook.lab.notebooks)
    notebook.open(path.name)


def problems(notebook: Any, path: Path) -> list[str]:
    """Return what would confuse a learner: cells that did not run, errors, and bad boards.

    A board is bad if it is blank or still running.
    """
    notebook.wait_until_idle()
    notebook.page.wait_for_timeout(1000)  # lets work between cells show its end
    found = []
    for at, cell in enumerate(notebook.page.evaluate(RAN)):
        name = f"{at}: {cell['source'].splitlines()[0]}"
        if cell["count"] is None:
            found.append(f"{name}: not run")
        found += [
            f"{name}: {one.get('evalue') or one['text']}"
            for one in cell["outputs"]
            if one["output_type"] == "error"
            or (one.get("name") == "stderr" and "BlockingWarning" not in one["text"])  # 08's lesson
        ]
        runs = [one for one in cell["outputs"] if RUN_MIME in one.get("data", {})]
        place = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(at)
        place.scroll_into_view_if_needed()
        boards = place.evaluate(BOARDS)
        is_folded = place.locator(".jp-OutputPlaceholder").count() > 0
        if len(boards) != len(runs) and not is_folded:
            found.append(f"{name}: {len(boards)} boards of {len(runs)} runs")
        if boards:
            notebook.picture(f"{path.stem}_{at}")
        for board in boards:
            is_blank = not board["rows"] or board["height"] < 20
            is_early = board["hasWorkers"] and path.stem < "08"
            if is_blank or is_early or board["isCut"] or board["status"] == "running":
                found.append(f"{name}: {board}")
    return found


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_from_its_first_cell_to_its_last(notebook: Any, path: Path) -> None:
    opened(notebook, path)
    notebook.run_all_and_wait()
    assert problems(notebook, path) == []


@pytest.mark.parametrize("path", AGAIN, ids=lambda path: path.stem)
def test_a_tutorial_runs_twice_and_after_a_restart(notebook: Any, path: Path) -> None:
    opened(notebook, path)
    notebook.run_all_and_wait()
    notebook.run_all_and_wait()
    assert problems(notebook, path) == []
    notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    notebook.wait_until_idle()
    notebook.run_all_and_wait()
    assert problems(notebook, path) == []
