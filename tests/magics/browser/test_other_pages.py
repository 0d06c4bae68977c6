"""Test values, runs, and boards on pages without our extension, and in Notebook 7.

Widgets show them on pages without our extension.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from tests.magics.browser.conftest import Notebook, served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

START = """%load_ext tfrt_nb
import os, threading, time
import ipywidgets, tfrt_nb as tfrt
from ipywidgets.widgets import widget as registry
from tfrt_nb import kernel

@kernel("demo.gate", blocking=True)
def gate(x: int, *, n: int) -> int:
    while not os.path.exists(f"gate-{n}"):
        time.sleep(0.02)
    return x + 1"""
SHOWN = "v, w = tfrt.unavailable(), tfrt.unavailable()\nv"
PARTS = "{'north': v, 'south': [w, 3]}"
HOSTILE = "<img src=x onerror=\"document.title='hacked'\">"
RESOLVE = f"v.set_result(6502); w.set_exception(ValueError({HOSTILE!r}))"
LEFT = """end = time.monotonic() + 10
while registry._instances and time.monotonic() < end:
    time.sleep(0.02)  # a thread closes widgets once their values are resolved
print(len(registry._instances), 'left')"""
WAITS = """%%tfrt {line}
func.func @main() -> i32 {{
  %a = tfrt.constant.i32 41
  %b = demo.gate %a {{n = 1}} : (i32) -> i32
  tfrt.return %b : i32
}}"""
BESIDE = "ipywidgets.HBox([ipywidgets.Label('beside'), run.widget()])"
PYTHON_RUN = """program = tfrt.Program("func.func @main(%n: i32) -> i32 {\\n  tfrt.return %n : i32\\n}")
given = tfrt.unavailable()
run = program.run(given)
run"""  # noqa: E501
INSIDE = """out = ipywidgets.Output()
inner = tfrt.unavailable()
with out:
    display(inner)
out"""


def see(locator: Locator, *parts: str) -> None:
    """Wait until the text of an element contains all of the parts."""
    for part in parts:
        locator.filter(has_text=part).first.wait_for(state="attached", timeout=30_000)


def width(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["width"]


@pytest.fixture
def plain(plain_lab: Any, browser_page: Page) -> Notebook:
    """A page of JupyterLab without our extension."""
    return Notebook(browser_page, plain_lab)


def test_jupyterlab_without_our_extension(plain: Notebook) -> None:
    sources = [START, SHOWN, PARTS, RESOLVE, LEFT, WAITS.format(line=""), LEFT, PYTHON_RUN]
    sources += ["given.set_result(90210)", BESIDE, INSIDE, "inner.set_result(77)"]
    plain.lab.write("plain.ipynb", *sources)
    plain.open("plain.ipynb")
    out = [plain.outputs(cell).first for cell in range(len(sources))]

    def run(cell: int) -> None:
        plain.page.evaluate(
            "(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i;"
            " window.jupyterapp.commands.execute('notebook:run-cell') }",
            cell,
        )

    for cell in (0, 1, 2):
        run(cell)
    see(out[1], "v unavailable")
    see(out[2], "['north'] unavailable", "['south'][1] = 3")
    assert out[1].locator(".tfrt-values").count() == 1
    for cell in (3, 4):
        run(cell)
    see(out[4], "0 left")
    see(out[1], "v = 6502")
    see(out[2], "['north'] = 6502", HOSTILE)
    assert out[1].locator(".tfrt-values").count() == 0  # HTML has replaced it
    assert plain.page.title() != "hacked"

    run(5)
    board = out[5].locator(".tfrt-board[data-status=running]")
    board.wait_for()
    board.locator("[data-value='%b'][data-state=running]").wait_for()
    assert width(board) > 400
    plain.picture("plain-lab")
    assert board.get_by_role("button", name="Cancel").is_hidden()  # it would wait for the cell
    (plain.lab.notebooks / "gate-1").touch()
    see(out[5], "@main: done", "42")
    board.wait_for(state="detached")
    run(6)
    see(out[6], "0 left")

    run(7)
    out[7].locator(".tfrt-board[data-status=running]").wait_for()
    for cell in (8, 9):
        run(cell)
    see(out[7], "90210", "done")
    wide = out[9].locator(".tfrt-board[data-status=done]")
    wide.wait_for()
    assert width(wide) > 250
    see(out[9], "beside", "90210")

    for cell in (10, 11):
        run(cell)
    see(out[10], "inner = 77")
    plain.save()
    plain.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = plain.lab.read("plain.ipynb")
    kinds = [set(one.data) for cell in (1, 2, 5, 7) for one in saved.cells[cell].outputs]
    assert kinds == [{"application/vnd.tfrt.run.v2+json", "text/html", "text/plain"}] * 4


def test_notebook_7(notebook_7: Any, browser_page: Page) -> None:
    seven = Notebook(browser_page, notebook_7)
    sources = [START, SHOWN, WAITS.format(line="--no-wait"), "v.set_result(6502)"]
    sources += ["ipywidgets.VBox([v.widget('boxed')])"]
    seven.lab.write("seven.ipynb", *sources)
    seven.open("seven.ipynb")
    seven.run_all()
    see(seven.outputs(1).first, "v = 6502")
    see(seven.outputs(4).first, "boxed = 6502")
    board = seven.outputs(2).first.locator(".tfrt-board[data-status=running]")
    board.wait_for()
    (seven.lab.notebooks / "gate-1").touch()
    seven.outputs(2).first.locator(".tfrt-board[data-status=done]").wait_for()
    seven.picture("notebook-7")


LATER = """def resolve():
    while not os.path.exists("gate-1"):
        time.sleep(0.02)
    v.set_result(6502)
    w.set_exception(ValueError("nobody came"))
    given.set_result(90210)
threading.Thread(target=resolve).start()"""


@pytest.fixture
def other_page(chromium: Any) -> Iterator[Page]:
    """A page of a front end that works even if it cannot load its parts from other machines."""
    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    context.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
    yield context.new_page()
    context.close()


def test_voila_keeps_its_widgets_and_they_live(tmp_path: Path, other_page: Page) -> None:
    sources = [START, SHOWN, PARTS, WAITS.format(line="--no-wait"), PYTHON_RUN, LATER]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    path = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    with served(tmp_path / "voila", "voila", str(path), "--no-browser") as url:
        other_page.goto(url, timeout=120_000)
        values, boards = other_page.locator(".tfrt-values"), other_page.locator(".tfrt-board")
        see(values.nth(0), "v unavailable")
        boards.nth(0).and_(other_page.locator("[data-status=running]")).wait_for()
        (tmp_path / "gate-1").touch()
        see(values.nth(0), "v = 6502")
        see(values.nth(1), "['north'] = 6502", "nobody came", "['south'][1] = 3")
        for place in (0, 1):
            boards.nth(place).and_(other_page.locator("[data-status=done]")).wait_for()
        assert width(boards.nth(0)) > 400
        boards.nth(0).get_by_label("Replay", exact=True).wait_for()
        picture(other_page, "voila")


MARIMO = f"""import marimo
app = marimo.App()

@app.cell
def _():
    import os, threading, time
    import marimo as mo
    import tfrt_nb as tfrt
    return mo, os, tfrt, threading, time

@app.cell
def _(tfrt):
    v, w = tfrt.unavailable(), tfrt.unavailable()
    v
    return v, w

@app.cell
def _(mo, v, w):
    mo.vstack([v.widget("stacked"), mo.accordion({{"more": w.widget("folded")}})])
    return

@app.cell
def _(v, w):
    [v, w]
    return

@app.cell
def _(tfrt):
    {PYTHON_RUN.replace(chr(10), chr(10) + "    ")}
    return given,

@app.cell
def _(tfrt):
    whole = tfrt.Program("func.func @main(%n: i32) -> i32 {{\\n  tfrt.return %n : i32\\n}}").run(7)
    whole.wait(30)
    whole
    return

@app.cell
def _(given, os, threading, time, v, w):
    {LATER.replace(chr(10), chr(10) + "    ")}
    return

if __name__ == "__main__":
    app.run()
"""


def test_marimo_shows_values_and_runs_live(tmp_path: Path, other_page: Page) -> None:
    path = tmp_path / "page.py"
    path.write_text(MARIMO.replace('"gate-1"', repr(str(tmp_path / "gate-1"))))
    options = ("run", str(path), "--headless", "--no-token")
    with served(tmp_path / "marimo", "marimo", *options) as url:
        other_page.goto(url, timeout=120_000)
        values, board = other_page.locator(".tfrt-values"), other_page.locator(".tfrt-board")
        see(values.nth(0), "value unavailable")
        see(values.filter(has_text="stacked"), "unavailable")
        board.and_(other_page.locator("[data-status=running]")).wait_for()
        (tmp_path / "gate-1").touch()
        see(values.nth(0), "value = 6502")
        see(values.filter(has_text="stacked"), "= 6502")
        see(values, "nobody came")
        board.and_(other_page.locator("[data-status=done]")).wait_for()
        assert all(width(one) > 100 for one in values.all() if one.is_visible())
        heads = other_page.locator("th").evaluate_all(
            """all => all.map(head => {
              const text = document.createRange();
              text.selectNodeContents(head);
              const { left, right } = text.getBoundingClientRect();
              return [left, right];
            })"""
        )
        assert min(b[0] - a[1] for a, b in itertools.pairwise(heads)) >= 10
        picture(other_page, "marimo")


def picture(page: Page, name: str) -> None:
    """Save a screenshot, like `Notebook.picture`."""
    if folder := os.environ.get("TFRT_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")
