"""Test what a cell shows while its program is compiled, in a real JupyterLab."""

from __future__ import annotations

from typing import Any

SLOW = """%load_ext tfrt_nb
import os, time

def wait_for_file(info):
    print("above")
    while not os.path.exists("go") and "%%tfrt" in info.raw_cell:
        time.sleep(0.01)

get_ipython().events.register("pre_run_cell", wait_for_file)"""
PROGRAM = """%%tfrt
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %sum, %more = "two.results"(%one) : (i32) -> (i32, i32)
  tfrt.return %sum : i32
}

func.func @other(%x: i32) -> i32 {
  %one = tfrt.add.i32 %x, %x
  tfrt.return %one : i32
}"""
RIGHT = """%%tfrt
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}"""
SKELETON = ".tfrt-skeleton [data-value='{}']"


def places(board: Any) -> list[tuple[str, float]]:
    """Return the text and the place of the results and of the rows' names, from the board's top."""
    top = board.bounding_box()["y"]
    return [
        (one.inner_text(), one.bounding_box()["y"] - top)
        for one in board.locator(".outcome button, .row .name").all()
    ]


def test_a_cell_shows_its_values_as_unavailable_until_they_are_there(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    (lab.notebooks / "go").unlink(missing_ok=True)
    lab.write("skeleton.ipynb", SLOW, RIGHT, PROGRAM)
    notebook.open("skeleton.ipynb")
    notebook.run_all()
    row = page.locator(SKELETON.format("%one"))
    row.wait_for()
    assert row.get_attribute("data-state") == "waiting"
    skeleton = page.locator(".tfrt-skeleton")
    assert "@main compiling …" in skeleton.locator(".head").inner_text()
    assert "running" not in skeleton.inner_text()
    # Its rows and results are already where those of the board will be.
    at_first = places(skeleton)
    assert [name for name, _ in at_first] == ["one ○ waiting : i32", "%one result"]
    notebook.picture("skeleton")
    # It stays below anything printed meanwhile.
    printed = notebook.outputs(1).get_by_text("above").bounding_box()
    assert printed["y"] < row.bounding_box()["y"]

    (lab.notebooks / "go").touch()
    page.wait_for_selector(".tfrt-board[data-status='done'] [data-value='%one']")
    assert [at for _, at in places(notebook.outputs(1).locator(".tfrt-board"))] == [
        at for _, at in at_first
    ]
    assert notebook.outputs(1).locator(".tfrt-skeleton").count() == 0

    # The second program is wrong; its errors replace the skeleton.
    notebook.wait_until_idle()
    assert page.locator(".tfrt-skeleton").count() == 0
    notebook.save()
    outputs = [one for cell in lab.read("skeleton.ipynb").cells[2:] for one in cell.outputs]
    assert not any("compiling" in str(one) for one in outputs)
