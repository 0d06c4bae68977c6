"""Test recipes about things on the page: what readers see if they type them into JupyterLab."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.examples import cells_of, start_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

DOCS = Path(__file__).parents[3] / "docs"
STEP = """%%tfrt --step
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  tfrt.return %two : i32
}"""
LATER = """%%tfrt --no-wait --in late
func.func @main(%late: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %late, %one
  tfrt.return %sum : i32
}"""

GATE = """import os, time
while not os.path.exists("recipe-may-go-on"):
    time.sleep(0.01)
late.set_result(41)"""


def recipe(page: Path) -> list[str]:
    """Return the cells of a page, from the first."""
    cells = cells_of(page.read_text("utf-8")).values()
    return [start_of(page), *(cell.source for block in cells for cell in block)]


def words(locator: Locator) -> list[str]:
    """Return the visible words of an element."""
    return locator.inner_text().split()


def size(locator: Locator) -> tuple[float, float]:
    """Return the width and height of the visible part of an element."""
    box = locator.bounding_box()
    assert box is not None
    return box["width"], box["height"]


def photographed(locator: Locator, name: str) -> None:
    """Compare the committed picture of a recipe with the page, or take it with WRITE_EXPECTED=1."""
    path = DOCS / "howto" / f"{name}.png"
    now = locator.screenshot()
    if os.environ.get("WRITE_EXPECTED") == "1":
        path.write_bytes(now)
    # Fonts differ from machine to machine, but what is drawn, and its approximate size, do not.
    known, found = (struct.unpack(">II", data[16:24]) for data in (path.read_bytes(), now))
    assert all(0.8 < a / b < 1.25 for a, b in zip(known, found, strict=True)), (known, found)


def test_a_board_says_what_a_program_did_in_which_order_and_with_what_result(notebook: Any) -> None:
    page = notebook.page
    notebook.lab.write("board.ipynb", *recipe(DOCS / "howto" / "board.md"))
    notebook.open("board.ipynb")
    notebook.run_all_and_wait()
    done, failed = (notebook.outputs(cell).locator(".tfrt-board") for cell in (1, 2))
    results = done.get_by_role("group", name="Results")
    results.get_by_text("sum = 3").wait_for()
    assert done.get_by_role("group", name="Printed").locator("pre").inner_text() == "int32 = 3"

    # In the middle of the replay, the value of %left is on its way.
    done.get_by_role("tab", name="Graph").click()
    done.get_by_label("Replay", exact=True).evaluate(
        "node => { node.value = node.max * 0.54; node.dispatchEvent(new Event('input')) }"
    )
    page.wait_for_timeout(1000)  # nothing lights up anymore
    head = words(done.locator(".head"))
    assert head[:3] == ["↻", "@main", "replay"] and "of" in head
    states = {
        node.get_attribute("data-line"): node.get_attribute("data-state")
        for node in done.get_by_role("treeitem").all()
    }
    assert (states["5"], states["6"], states["7"]) == ("available", "running", "waiting")
    photographed(done, "board_replay")

    # Two waits of timers have two lanes; the list says what runs.
    done.get_by_label("Replay", exact=True).evaluate(
        "node => { node.value = node.max; node.dispatchEvent(new Event('input')) }"
    )
    done.get_by_role("tab", name="Timeline").click()
    page.wait_for_timeout(1000)
    kinds = done.get_by_role("group", name="Kernels").locator("[data-kind]").all_inner_texts()
    waits = re.fullmatch(r"demo\.wait\.i32 2×, .*, waits ([\d.]+) s", kinds[0])
    assert waits and 5.5 < float(waits[1]) < 9, (
        kinds
    )  # they last two and four seconds, and begin and end when a thread is free
    photographed(done, "board_timeline")

    problem = failed.locator(".problem")
    assert words(problem) == ["▲", "Divide", "by", "zero", "%share,", "line", "5"]
    assert [words(one) for one in failed.locator(".outcome button").all()] == [
        ["more", "◇", "skipped", ":", "i32"],
        ["fine", "=", "2", ":", "i32"],
    ]
    failed.get_by_role("tab", name="Source").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    assert failed.locator(".source .row[data-line='7'] .beside").inner_text() == "= 2"
    photographed(failed, "board_failed")


def test_values_on_the_page_are_as_the_recipe_has_them(notebook: Any) -> None:
    cells = recipe(DOCS / "howto" / "values.md")
    notebook.lab.write("values.ipynb", *cells)
    notebook.open("values.ipynb")
    notebook.run_all_and_wait()
    shown = notebook.outputs(3).locator(".tfrt-values")
    shown.locator("[data-value=\"['order'][1]\"][data-state=error]").wait_for()
    lines = [words(row) for row in shown.get_by_role("listitem").all()]
    assert [line[0] for line in lines] == ["●", "●", "▲", "●"]
    assert [" ".join(line[1:]) for line in lines[:2]] == [
        "['price'] = 25",
        "['order'][0] = 75 : i32",
    ]
    assert " ".join(lines[2]).endswith("error: Divide by zero, at cell 3:6:19 : i32")
    photographed(shown, "values")


def test_what_a_recipe_says_is_on_the_page(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    (start, *shop), (_, board) = recipe(DOCS / "howto" / "sliders.md"), recipe(DOCS / "index.md")
    sources = [start, "late = tfrt.unavailable()", LATER, GATE, STEP, board, *shop]
    lab.write("recipes.ipynb", *sources)
    notebook.open("recipes.ipynb")
    notebook.run_all()
    outputs = [notebook.outputs(cell).first for cell in range(len(sources))]
    later, step, live = (outputs[cell].locator(".tfrt-board") for cell in (2, 4, 5))
    slider = outputs[-2]

    # A run for which no cell waits continues, and so does its board, while another cell runs.
    row = "[data-value='{}'][data-state={}]"
    late = later.locator(row.format("%late", "waiting"))
    late.wait_for()
    assert words(late) == ["○", "waiting", "%late", "i32"]
    (lab.notebooks / "recipe-may-go-on").touch()
    total = later.locator(row.format("%sum", "available"))
    total.wait_for()
    assert {"●", "available", "%sum", "result", "42", "i32"} <= {*words(total)}
    assert size(total)[0] > 400 and size(total)[1] > 10

    # The board of a stopped program has a button for each operation that could run.
    ready = step.get_by_role("group", name="Ready").get_by_role("button")
    ready.wait_for()
    assert words(ready) == ["%two", "=", "tfrt.add.i32", "%one,", "%one"]
    assert size(ready)[0] > 100 and size(ready)[1] > 10
    step.get_by_role("button", name="Run to end").click()
    two = step.locator(row.format("%two", "available"))
    two.wait_for()
    assert {"%two", "result", "2", "i32"} <= {*words(two)}

    # A live board: values, a graph, a timeline.
    total = live.locator(row.format("%sum", "available"))
    total.wait_for()
    assert {"%sum", "result", "2", "i32"} <= {*words(total)}
    for name in ("Graph", "Timeline"):
        live.get_by_role("tab", name=name).click()
        width, height = size(live.get_by_role("tabpanel"))
        assert width > 400 and height > 100

    # Move a slider, see the result.
    slider.get_by_text("= 125 : i32", exact=True).wait_for()
    slider.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    slider.get_by_text("= 150 : i32", exact=True).wait_for()
    width, height = size(slider.locator(".tfrt-values"))
    assert width > 300 and height > 15
    notebook.picture("recipes")
    photographed(slider, "sliders")


def test_interact_on_a_traced_function_shows_its_run(notebook: Any) -> None:
    start, *_, traced = recipe(DOCS / "howto" / "sliders.md")
    notebook.lab.write("interact.ipynb", start, traced)
    notebook.open("interact.ipynb")
    notebook.run_all_and_wait()
    output = notebook.outputs(1).first
    result = output.locator("[data-value=result][data-state=available]")
    result.get_by_text("125", exact=True).wait_for()
    output.locator(".noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    result.get_by_text("150", exact=True).wait_for()


def test_values_and_runs_compose_with_ipywidgets(notebook: Any) -> None:
    sources = recipe(DOCS / "howto" / "compose.md")
    notebook.lab.write("compose.ipynb", *sources)
    notebook.open("compose.ipynb")
    notebook.run_all_and_wait()
    box, runs = notebook.outputs(1).first, notebook.outputs(4).first
    box.locator(".tfrt-values").get_by_text("= 2718", exact=True).wait_for()
    box.locator(".widget-label").get_by_text("2718").wait_for()
    photographed(box, "compose")
    board = runs.locator(".tfrt-board[data-status=done]")
    board.locator("[data-value=result]").get_by_text("42").first.wait_for()
    assert size(board)[0] > 400
    runs.locator(".tfrt-values").get_by_text("= 6 : i32", exact=True).wait_for()
