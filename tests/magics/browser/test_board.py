"""The board of a cell, as somebody sees it who runs, saves and reads a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

LOAD = f"%run -n {Path(__file__).parents[1] / 'fake_kernel.py'}"
LATE = "func @late() -> i32"
HANG = "func @hang() -> i32"
ROW = ".tfrt-board tr[data-name='{}'][data-state='{}']"


def test_a_value_is_seen_to_come_and_stays_in_the_saved_notebook(notebook) -> None:
    page = notebook.page
    notebook.lab.write("late.ipynb", LOAD, f"%%tfrt -o late\n{LATE}", "print(late.result())")
    notebook.open("late.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    assert page.locator(ROW.format("%1", "unavailable")).count() == 1
    assert page.locator(".tfrt-progress").get_attribute("aria-valuetext") == "1 of 2 values"
    notebook.picture("live")

    page.wait_for_selector(".tfrt-board", state="detached")
    page.wait_for_selector(".jp-CodeCell >> nth=2 >> .jp-OutputArea:has-text('42')")
    after_the_run = notebook.outputs(1).inner_text()
    assert "@late: done, 2 of 2 values" in after_the_run
    notebook.picture("ended")
    notebook.save()
    notebook.shut_down()

    notebook.open("late.ipynb", kernel=False)
    page.wait_for_selector("text=@late: done")
    assert notebook.outputs(1).inner_text() == after_the_run
    assert page.locator(".jp-OutputArea img[src^='data:image/svg+xml;base64,']").count() == 1
    notebook.picture("reopened")


def test_the_page_of_a_shared_notebook_survives_the_sanitiser(notebook) -> None:
    """A notebook that this user did not run is not trusted: its HTML is cleaned before it is shown."""
    page = notebook.page
    notebook.lab.write("shared.ipynb", LOAD, f"%%tfrt\n{LATE}")
    notebook.open("shared.ipynb")
    notebook.run_all()
    page.wait_for_selector("text=@late: done")
    notebook.save()
    shared = notebook.lab.read("shared.ipynb")
    shared["metadata"].pop("signature", None)
    shared["cells"][1]["source"] += "\n// changed on another machine"
    notebook.lab.store("from_elsewhere.ipynb", shared)

    notebook.open("from_elsewhere.ipynb", kernel=False)
    page.wait_for_selector("text=@late: done")
    assert (
        page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets[1].model.trusted"
        )
        is False
    )
    table = notebook.outputs(1).locator("table")
    shape = table.locator("tbody tr").nth(1).locator("span").first
    assert shape.evaluate("(node) => getComputedStyle(node).color") == "rgb(0, 158, 115)"
    assert table.evaluate("(node) => getComputedStyle(node).borderCollapse") == "collapse"
    assert notebook.outputs(1).locator("details").count() == 2
    image = notebook.outputs(1).locator("img")
    assert image.evaluate("(node) => node.complete && node.naturalWidth") == 720


def test_a_reload_in_the_middle_of_a_run_shows_the_present(notebook) -> None:
    page = notebook.page
    notebook.lab.write("reload.ipynb", LOAD, f"%%tfrt --no-wait\n{LATE}")
    notebook.open("reload.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    notebook.save()

    notebook.open("reload.ipynb")
    page.wait_for_selector(ROW.format("%1", "available"))
    assert page.locator(ROW.format("result", "available")).count() == 1


def test_an_interrupt_cancels_and_says_so_in_one_line(notebook) -> None:
    page = notebook.page
    notebook.lab.write("hang.ipynb", LOAD, f"%%tfrt\n{HANG}", "print('not run')")
    notebook.open("hang.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    notebook.command("notebook:interrupt-kernel")
    page.wait_for_selector(".tfrt-board", state="detached")

    output = notebook.outputs(1)
    line = "%%tfrt: interrupted; @hang was still waiting for %1, %2, %3, %4, %5 and 58 more"
    output.locator("pre", has_text="interrupted").wait_for()
    assert output.locator("[data-mime-type='application/vnd.jupyter.stderr']").inner_text() == line
    assert output.locator("td", has_text="cancelled").count() == 64
    assert notebook.outputs(2).inner_text() == ""
    notebook.picture("interrupted")


def test_the_button_cancels_a_run_while_its_cell_is_busy(notebook) -> None:
    page = notebook.page
    notebook.lab.write("button.ipynb", LOAD, f"%%tfrt\n{HANG}")
    notebook.open("button.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=@hang: cancelled", timeout=30_000)


def test_a_board_is_filtered_sorted_and_walked_through_with_the_keyboard(notebook) -> None:
    page = notebook.page
    notebook.lab.write("keys.ipynb", LOAD, f"%%tfrt --no-wait\n{HANG}")
    notebook.open("keys.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    rows = page.locator(".tfrt-board tbody tr:visible")

    page.get_by_role("searchbox").fill("%6")
    assert rows.evaluate_all("(rows) => rows.map((row) => row.dataset.name)") == [
        *("%6", "%60", "%61", "%62", "%63")
    ]
    page.get_by_role("button", name="name").dblclick()
    assert page.locator("th[aria-sort=descending]").inner_text() == "name"
    assert rows.first.get_attribute("data-name") == "%63"
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    focused = "() => [document.activeElement.dataset.name, document.activeElement.ariaExpanded]"
    assert page.evaluate(focused) == ["%60", "true"]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_text_on_the_board_is_legible_in_every_theme(notebook, theme: str) -> None:
    """Four and a half to one is what WCAG asks of text."""
    page = notebook.page
    name = f"{theme[-4:]}.ipynb"
    notebook.lab.write(name, LOAD, f"%%tfrt --no-wait\n{HANG}")
    notebook.open(name)
    notebook.theme(theme)
    notebook.run_all()
    page.wait_for_selector(ROW.format("%0", "available"))
    notebook.picture(theme.replace(" ", "_"))
    assert page.evaluate(CONTRAST) >= 4.5


# The least contrast of the board's texts with the page behind them.
CONTRAST = """() => {
  const light = ([r, g, b]) => [r, g, b]
    .map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const over = ([r, g, b, a = 1], back) => [r, g, b].map((part, place) => part * a + back[place] * (1 - a));
  const texts = [...document.querySelectorAll(".tfrt-board :is(td, b, h4, button, summary, .tfrt-soft)")]
    .filter((node) => node.innerText?.trim());
  return Math.min(...texts.map((node) => {
    const back = behind(node);
    const [one, two] = [light(over(numbers(getComputedStyle(node).color), back)), light(back)].sort((a, b) => b - a);
    return (one + 0.05) / (two + 0.05);
  }));
}"""
