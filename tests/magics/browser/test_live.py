"""Test displayed values and runs in JupyterLab with our extension: they change when resolved."""

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
    while not os.path.exists("live-may-go-on"): time.sleep(0.01)
    return x + 1

program = tfrt.Program('''func.func @main(%a: i32) -> i32 {
  %b = "live.later"(%a) : (i32) -> i32
  tfrt.return %b : i32
}''')
run = program.run(41)"""

COUNT_ANNOUNCED = """() => {
    window.announced = [];
    new MutationObserver((changes) => {
        for (const { target } of changes) {
            if (!target.matches?.(".tfrt-announcer") || !target.textContent) continue;
            const count = target.textContent.match(/^([\\d\u202f]+) values changed$/);
            const single = target.textContent.split(". ").length;
            window.announced.push(count ? Number(count[1].replace(/\\D/g, "")) : single);
        }
    }).observe(document.body, { childList: true, subtree: true });
}"""
"""Counts the changes that each sentence announces to a screen reader."""


def chip(output: Locator, name: str, state: str) -> Locator:
    """Wait until a value has this state, and return its chip."""
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
    """Open a new notebook, run its first cell, and return the outputs of all cells."""
    notebook.lab.write(name, *cells)
    notebook.open(name)
    execute(notebook, 0)
    return [notebook.outputs(cell) for cell in range(len(cells))]


def test_a_run_that_python_started_is_a_board(notebook: Any) -> None:
    go = notebook.lab.notebooks / "live-may-go-on"
    _, _, first, again = opened(notebook, "python_run.ipynb", LOAD, RUN_FROM_PYTHON, "run", "run")
    for cell in (1, 2):
        execute(notebook, cell)
    board = first.locator(".tfrt-board")
    board.wait_for()
    assert board.get_attribute("data-status") == "running"
    chip(first, "result", "running")
    notebook.picture("live-run")
    go.touch()
    assert "42" in chip(first, "result", "available").inner_text()
    execute(notebook, 3)
    assert "42" in chip(again, "result", "available").inner_text()
    go.unlink()


KINDS = """from dataclasses import dataclass
@dataclass
class Order:
    apples: object
    pears: int
answer, late, lost, shop = (tfrt.unavailable() for _ in range(4))
fruit = {"north": late, "south": Order(lost, 3)}
%config TFRT.live = 'auto'"""
RESULTS = """%%tfrt --no-wait --in late -o sums
func.func @main(%late: i32) -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %late, %one
  tfrt.return %late, %sum : i32, i32
}"""
RESOLVE = """answer.set_result(42)
late.set_result(7)
lost.set_exception(ValueError("nobody <b>came</b>"))
shop.cancel("the shop is closed")"""


def test_what_is_displayed_changes_when_it_is_resolved(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    cells = [LOAD, KINDS, RESULTS, "answer", "display(fruit, (answer, 5))", "sums"]
    cells += ["tfrt.gather(answer, late)", "[shop, [tfrt.unavailable()]][:1]", WAIT.format("busy")]
    body = f"{WAIT.format('resolve')}\n{RESOLVE}".replace("\n", "\n    ")
    cells += [f"def resolve():\n    {body}\nthreading.Thread(target=resolve).start()"]
    _, _, board, one, two, results, both, stopped, *_ = opened(notebook, "live.ipynb", *cells)
    for cell in (1, 2, 3, 4, 5, 6, 7, 9, 8):
        execute(notebook, cell)
    chip(stopped, "[0]", "unavailable")
    for output, name in ((one, "answer"), (two, "['north']"), (two, "[0]"), (results, "[1]")):
        assert "unavailable" in chip(output, name, "unavailable").inner_text()
    assert "5" in chip(two, "[1]", "available").inner_text()
    notebook.picture("live-before")

    # The last cell keeps the kernel busy, while a thread resolves the values.
    (lab.notebooks / "resolve").touch()
    assert "= 42" in chip(one, "answer", "available").inner_text()
    assert "= 42" in chip(two, "[0]", "available").inner_text()
    assert "= 7" in chip(two, "['north']", "available").inner_text()
    assert "nobody <b>came</b>" in chip(two, "['south'].apples", "error").inner_text()
    assert "= 8 : i32" in chip(results, "[1]", "available").inner_text()
    assert "(42, 7)" in chip(both, "value", "available").inner_text()
    assert "the shop is closed" in chip(stopped, "[0]", "cancelled").inner_text()
    assert "8" in chip(board, "%sum", "available").inner_text()
    prompt = page.locator(".jp-Notebook .jp-CodeCell").nth(8).locator(".jp-InputPrompt")
    assert "*" in prompt.inner_text()
    # There is one sentence for all; a chip and its description can be reached without a mouse.
    said = page.locator(".tfrt-announcer")
    page.wait_for_function("() => document.querySelector('.tfrt-announcer')?.textContent")
    assert "values changed" in said.inner_text()
    assert said.get_attribute("aria-live") == "polite"
    chip(two, "['north']", "available").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    detail = two.get_by_role("note", name="Selected")
    assert "ValueError: nobody <b>came</b>" in detail.inner_text()
    assert "state error" in detail.inner_text()
    notebook.picture("live-after")
    (lab.notebooks / "busy").touch()
    notebook.wait_until_idle()

    # The file has the end, even for readers without our extension.
    notebook.save()
    outputs = [output for cell in lab.read("live.ipynb").cells for output in cell.outputs]
    shown = [output for output in outputs if RUN_MIME in output.get("data", {})]
    assert [output for output in shown if output.data[RUN_MIME]["status"] == "running"] == []
    texts = [output.data["text/plain"] for output in shown]
    assert "● answer = 42" in texts and "■ [0] cancelled: the shop is closed" in texts
    notebook.shut_down()
    notebook.open("live.ipynb", kernel=False)
    chip(notebook.outputs(3), "answer", "available")
    for name in ("busy", "resolve"):
        (lab.notebooks / name).unlink()


def test_a_value_lives_on_over_a_reload_in_two_windows_and_a_restart(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    values = (
        "a, b, c = (tfrt.unavailable() for _ in "
        "range(3))\ndisplay(a)\nprint('and')\ndisplay([b, c])"
    )
    resolve = (
        f"def resolve():\n    {WAIT.format('first')}\n    a.set_result(11)\n    "
        f"{WAIT.format('second')}\n    b.set_result(22)\nthreading.Thread(target=resolve).start()"
    )
    _, output, _, _ = opened(notebook, "windows.ipynb", LOAD, values, resolve, WAIT.format("end"))
    notebook.save()
    for cell in (1, 2, 3):
        execute(notebook, cell)
    chip(output, "a", "unavailable")
    chip(output, "[1]", "unavailable")

    # The file has none of this, and the kernel is busy; the value comes while no page is open.
    page.goto("about:blank")
    (lab.notebooks / "first").touch()
    page.wait_for_timeout(500)
    notebook.open("windows.ipynb", kernel=False)
    assert "= 11" in chip(output, "a", "available").inner_text()
    chip(output, "[0]", "unavailable")
    notebook.picture("live-reloaded")
    notebook.save()
    other = page.context.new_page()
    second = type(notebook)(other, lab)
    second.open("windows.ipynb", kernel=False)
    chip(second.outputs(1), "[0]", "unavailable")
    (lab.notebooks / "second").touch()
    for window in (notebook, second):
        assert "= 22" in chip(window.outputs(1), "[0]", "available").inner_text()
        chip(window.outputs(1), "[1]", "unavailable")
    other.close()

    # With another kernel, an unresolved value stays unresolved.
    (lab.notebooks / "end").touch()
    notebook.wait_until_idle()
    page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart() }"
    )
    output.get_by_text("The kernel is gone").wait_for()
    chip(output, "[1]", "unavailable")
    notebook.save()
    notebook.wait_until_idle()
    page.goto("about:blank")
    notebook.open("windows.ipynb")
    output.get_by_text("The kernel is gone").wait_for()
    chip(output, "[0]", "available")
    notebook.picture("live-restarted")
    for name in ("first", "second", "end"):
        (lab.notebooks / name).unlink()


def test_a_thousand_values_and_what_is_cleared_run_again_or_deleted(notebook: Any) -> None:
    page = notebook.page
    many = "many = [tfrt.unavailable() for _ in range(1000)]\nmany"
    clear = (
        "from IPython.display import clear_output\nfor _ in range(3):\n    clear_output()\n  "
        "  display(shared)"
    )
    cells = [
        LOAD + "\nshared, gone = tfrt.unavailable(), tfrt.unavailable()",
        many,
        clear,
        "shared",
        "gone",
    ]
    cells += ["picture = tfrt.unavailable()\npicture"]
    cells += ["for place, one in enumerate(many): one.set_result(place)"]
    cells += [
        "shared.set_result(5)\ngone.set_result(6)\npicture.set_result(np.arange(12.).reshape(3, 4))"
    ]
    outputs = opened(notebook, "many.ipynb", *cells)
    for cell in (1, 2, 3, 3, 4, 5):
        execute(notebook, cell)
    chip(outputs[5], "picture", "unavailable")
    outputs[1].get_by_text("0 of 1 000 values").wait_for()
    assert outputs[2].locator(".tfrt-values").count() == 1
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 4 }")
    page.evaluate(
        "() => window.jupyterapp.commands.execute('notebook:delete-cell').then(() => null)"
    )
    page.evaluate(COUNT_ANNOUNCED)
    execute(notebook, 5)
    outputs[1].get_by_text("1 000 of 1 000 values").wait_for()
    chip(outputs[1], "[0]", "available")
    page.wait_for_function("() => window.announced.reduce((sum, one) => sum + one, 0) === 1000")
    # One sentence, unless the machine is so busy that the changes come in several bursts.
    assert page.evaluate("() => window.announced.length") <= 10
    execute(notebook, 6)
    for place in (2, 3):
        assert "= 5" in chip(outputs[place], "shared", "available").inner_text()
    chip(outputs[4], "picture", "available")
    picture = outputs[4].get_by_role("img", name="heat map of picture")
    picture.wait_for()
    assert picture.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [4, 3]
    notebook.picture("live-many")


def test_two_notebooks_share_a_kernel(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    (first,) = opened(notebook, "one.ipynb", LOAD + "\nv = tfrt.unavailable()\nv")
    chip(first, "v", "unavailable")
    lab.write("two.ipynb", "v", "v.set_result(9)")
    identity = page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
    )
    other = type(notebook)(page.context.new_page(), lab)
    other.open("two.ipynb")
    other.page.evaluate(
        "(id) => window.jupyterapp.shell.currentWidget.sessionContext.changeKernel({ id "
        "}).then(() => null)",
        identity,
    )
    execute(other, 0)
    chip(other.outputs(0), "v", "unavailable")
    execute(other, 1)
    for output in (first, other.outputs(0)):
        assert "= 9" in chip(output, "v", "available").inner_text()
    other.page.close()


def test_the_value_of_a_cell_is_its_board(notebook: Any) -> None:
    lab = notebook.lab
    program = (
        "%%tfrt --no-wait --in late\nfunc.func @main(%late: i32) -> i32 {\n  tfrt.return "
        "%late : i32\n}"
    )
    load = LOAD + "\nlate = tfrt.unavailable()"
    cells = [
        load,
        program,
        "_",
        "tfrt.last_run().results",
        "late.set_result(3)",
        "print(Out[2].result())",
    ]
    outputs = opened(notebook, "value.ipynb", *cells)
    for cell in (1, 2, 3):
        execute(notebook, cell)
    chip(outputs[3], "[0]", "unavailable")
    assert outputs[1].locator(".tfrt-board").count() == 1
    again = outputs[2].locator(".tfrt-board")
    again.wait_for()
    assert again.get_attribute("data-status") == "running"
    execute(notebook, 4)
    chip(outputs[2], "%late", "available")
    assert "= 3 : i32" in chip(outputs[3], "[0]", "available").inner_text()
    outputs[2].locator(".tfrt-board[data-status=done]").wait_for()
    execute(notebook, 5)
    outputs[5].get_by_text("3", exact=True).wait_for()
    notebook.save()
    (saved,) = lab.read("value.ipynb").cells[2].outputs
    assert saved.data[RUN_MIME]["status"] == "done"
