"""Displayed values and runs in JupyterLab with our extension: they change when they are resolved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator

RUN_MIME = "application/vnd.tfrt.run.v2+json"
LOAD = "%load_ext tfrt_nb\nimport os, threading, time\nimport numpy as np\nimport tfrt_nb as tfrt"
WAIT = "while not os.path.exists({!r}): time.sleep(0.01)"
CHIP = "[data-value={}][data-state={}]"
RUN_FROM_PYTHON = """@tfrt.kernel("live.later", blocking=True)
def later(x: int) -> int:
    while not os.path.exists("go"): time.sleep(0.01)
    return x + 1

program = tfrt.Program('''func.func @main(%a: i32) -> i32 {
  %b = "live.later"(%a) : (i32) -> i32
  tfrt.return %b : i32
}''')
run = program.run(41)"""


def chip(output: Locator, name: str, state: str) -> Locator:
    """The chip of a value, once it has this state."""
    found = output.locator(CHIP.format(json.dumps(name), state))
    found.wait_for(timeout=20_000)
    return found


def execute(notebook: Any, cell: int) -> None:
    """Run one cell and do not wait for it."""
    notebook.page.evaluate(
        "(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i }", cell
    )
    notebook.command("notebook:run-cell")


def opened(notebook: Any, name: str, *cells: str) -> list[Locator]:
    """A new notebook whose first cell was run; the outputs of all cells."""
    notebook.lab.write(name, *cells)
    notebook.open(name)
    execute(notebook, 0)
    return [notebook.outputs(cell) for cell in range(len(cells))]


def test_a_run_that_python_started_is_a_board(notebook: Any) -> None:
    go = notebook.lab.notebooks / "go"
    _, _, first, again = opened(notebook, "python_run.ipynb", LOAD, RUN_FROM_PYTHON, "run", "run")
    for cell in (1, 2):
        execute(notebook, cell)
    board = first.locator(".tfrt-board")
    board.wait_for()
    assert board.get_attribute("data-status") == "running"
    chip(first, "result", "waiting")
    notebook.picture("live-run")
    go.touch()
    assert "42" in chip(first, "result", "available").inner_text()
    execute(notebook, 3)
    assert "42" in chip(again, "result", "available").inner_text()
    go.unlink()
