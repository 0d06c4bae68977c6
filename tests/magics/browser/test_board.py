"""Test the board of a cell as a reader of a notebook sees it: one walk, on one page."""

from __future__ import annotations

import re

import nbformat

EXTENSION = "tfrt-nb-labextension"
RUN_MIME = "application/vnd.tfrt.run.v2+json"
MISTAKES_MIME = "application/vnd.tfrt.diagnostics+json"
KERNELS = """%load_ext tfrt_nb
import asyncio, os
from tfrt_nb import kernel

@kernel("demo.gate")
async def gate(x: int) -> int:
    while not os.path.exists("open"):
        await asyncio.sleep(0.01)
    return x + 1"""
PROGRAM = """%%tfrt
// a comment
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %gate = "demo.gate"(%one) : (i32) -> i32
  %sum = tfrt.add.i32 %gate, %one
  %c = tfrt.new.chain
  %p = tfrt.print.i32 %sum, %c
  tfrt.return %sum : i32
}"""
WRONG = "%%tfrt\nfunc.func @f() {\n  %a = tfrt.addd.i32 %b\n  tfrt.return\n}"
ROW = ".tfrt-board [data-value='{}'][data-state='{}']"
NAMES = """() => [...document.querySelector(".tfrt-board").shadowRoot.querySelectorAll(".row[data-value]")]
  .map((row) => row.dataset.value)"""  # noqa: E501


def test_one_board_from_the_first_row_to_the_reopened_file(notebook) -> None:
    page, lab = notebook.page, notebook.lab
    lab.write("walk.ipynb", KERNELS, PROGRAM)
    notebook.open("walk.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%one", "available"))
    page.wait_for_selector(ROW.format("%sum", "waiting"))
    board = page.locator(".tfrt-board")
    assert board.get_attribute("data-status") == "running"
    assert page.locator("[data-value='%sum']").get_attribute("data-waits-for") == "%gate"
    board.get_by_role("searchbox").fill("sum")
    board.evaluate("(node) => { node.mark = 'the same' }")
    notebook.picture("live")

    (lab.notebooks / "open").touch()
    page.wait_for_selector(".tfrt-board[data-status='done']")
    assert page.evaluate(NAMES) == ["%sum"]
    assert board.evaluate("(node) => node.mark") == "the same"
    assert "3" in board.locator("[data-value='%sum']").inner_text()

    # A row selects its node and its line.
    board.locator("[data-value='%sum']").click()
    assert page.locator(".cm-content .tfrt-current").inner_text().strip().startswith("%sum")
    board.get_by_role("tab", name="Graph").click()
    chosen = board.get_by_role("tree", name="Graph").locator("[aria-selected=true]")
    assert chosen.get_attribute("data-line") == "6"
    notebook.picture("graph")
    # The cursor on a line of the cell selects the operation of that line.
    page.locator(".jp-CodeCell").nth(1).locator(".cm-line", has_text="%gate = ").click()
    page.wait_for_selector("[aria-label=Graph] [aria-selected=true][data-line='5']")
    assert board.get_by_role("note", name="Selected").is_hidden()
    notebook.picture("cursor")
    board.get_by_role("tab", name="Timeline").click()
    assert board.get_by_label("Timeline", exact=True).get_by_role("listitem").count() >= 3
    notebook.picture("timeline")
    board.get_by_role("tab", name="Log").click()
    assert "int32 = 3" in board.get_by_role("tabpanel").inner_text()

    # The file has the end of the run, so the board needs no kernel, and can be replayed.
    notebook.save()
    notebook.shut_down()
    notebook.open("walk.ipynb", kernel=False)
    page.wait_for_selector(".tfrt-board[data-status='done']")
    assert board.get_by_role("button", name="Cancel").count() == 0
    board.get_by_label("Replay", exact=True).evaluate(
        "(node) => { node.value = 0; node.dispatchEvent(new Event('input')) }"
    )
    page.wait_for_selector(".tfrt-board[data-time='0']")
    assert board.locator("[data-value='%sum']").get_attribute("data-state") != "available"
    board.get_by_role("button", name="Step forward").click()
    page.wait_for_function("() => Number(document.querySelector('.tfrt-board').dataset.time) > 0")


def test_the_cell_has_colors_and_errors_are_underlined(notebook) -> None:
    page = notebook.page
    notebook.lab.write("cell.ipynb", "%load_ext tfrt_nb", WRONG, "lambda: None")
    notebook.open("cell.ipynb")
    notebook.run_all_and_wait()
    mark = page.locator(".jp-CodeCell .cm-line .tfrt-underline[data-severity=error]").first
    assert mark.inner_text() == "tfrt.addd.i32"
    assert mark.evaluate("(node) => getComputedStyle(node).textDecorationStyle") == "wavy"
    spans = page.locator(".jp-CodeCell").nth(1).locator(".cm-line span")
    colors = dict(
        spans.evaluate_all("(all) => all.map((n) => [n.textContent, getComputedStyle(n).color])")
    )
    words = ("%%tfrt", "func.func", "@f", "%a")
    assert [word for word in words if word not in colors] == []
    assert len({colors[word] for word in words}) == 4
    output = notebook.outputs(1).inner_text()
    assert re.search("line 3, column 8", output)
    assert "Traceback" not in output

    # While the cell is being written, the kernel analyzes it, but runs nothing.
    notebook.set_source(1, WRONG.replace("tfrt.addd.i32 %b", "tfrt.constant.i32 1"))
    mark.wait_for(state="detached")
    notebook.set_source(1, WRONG.replace("tfrt.addd.i32 %b", "tfrt.sub.i32 %a"))
    page.wait_for_selector(".tfrt-underline[title*='tfrt.sub.i32']")
    assert notebook.outputs(1).inner_text() == output

    # If all comms are closed, whatever closes them, they are opened again.
    page.evaluate(
        """(text) => {
          const { content, sessionContext } = window.jupyterapp.shell.currentWidget;
          const code = "for one in [*get_ipython().kernel.comm_manager.comms.values()]: one.close()";
          content.widgets[1].model.sharedModel.setSource(text);
          return sessionContext.session.kernel.requestExecute({ code }).done.then(() => null);
        }""",  # noqa: E501
        WRONG.replace("tfrt.addd.i32 %b", "tfrt.constant.i32 1"),
    )
    page.wait_for_selector(".tfrt-underline", state="detached")
    notebook.set_source(1, WRONG.replace("tfrt.addd.i32 %b", "tfrt.mull.i32 %a"))
    page.wait_for_selector(".tfrt-underline[title*='tfrt.mull.i32']")

    # F12 goes to where a name is defined.
    page.evaluate(
        """(text) => {
          const { editor } = window.jupyterapp.shell.currentWidget.content.widgets[1];
          editor.model.sharedModel.setSource(text);
          editor.focus();
          editor.setCursorPosition(editor.getPositionAt(text.lastIndexOf("%a")));
        }""",
        WRONG.replace("tfrt.addd.i32 %b", "tfrt.constant.i32 1\n  %b = tfrt.add.i32 %a, %a"),
    )
    page.keyboard.press("F12")
    page.wait_for_function(
        """() => {
          const { editor } = window.jupyterapp.shell.currentWidget.content.widgets[1];
          const source = editor.model.sharedModel.getSource(), { start, end } = editor.getSelection();
          const from = editor.getOffsetAt(start);
          return from === source.indexOf("%a") && source.slice(from, editor.getOffsetAt(end)) === "%a";
        }"""  # noqa: E501
    )


def test_the_first_mistake_is_underlined_while_another_cell_runs(notebook) -> None:
    waits = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
    notebook.lab.write("busy.ipynb", "%load_ext tfrt_nb", waits, "%%tfrt\n")
    page = notebook.page
    notebook.open("busy.ipynb")
    notebook.run_all()
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.executionCount === 1"
    )
    notebook.set_source(2, WRONG)
    page.wait_for_selector(".tfrt-underline[title*='tfrt.addd.i32']")
    prompt = "() => document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[1].textContent"
    assert page.evaluate(prompt) == "[*]:"
    # The "idle" that belongs to the answer does not hide the cell that runs.
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "
        "'busy'"
    )
    (notebook.lab.notebooks / "go").touch()
    notebook.wait_until_idle()


def test_answers_with_programs_are_colored_and_a_cell_that_cannot_be_sent_says_so(
    notebook,
) -> None:
    page, answer = notebook.page, "%%tfrt_check start.write\n"
    cells = (answer + PROGRAM.partition("\n")[2], answer + "%six = 42", "%%tfrt\n")
    notebook.lab.write("answers.ipynb", "%load_ext tfrt_nb", *cells)
    notebook.open("answers.ipynb")
    page.wait_for_function(
        """() => [...document.querySelectorAll(".jp-CodeCell")].filter((cell) =>
          [...cell.querySelectorAll(".cm-line span")].some(({ textContent }) => textContent === "%%tfrt_check")).length === 1"""  # noqa: E501
    )
    notebook.set_source(3, "%%tfrt\nfunc.func @f() {\n  // " + "A" * 9_600_000 + "\n}")
    page.wait_for_selector(".tfrt-underline[title*='this cell has 9.6 MB']")


def test_no_text_of_a_saved_run_becomes_html(notebook) -> None:
    page, text = notebook.page, "<img src=x onerror='window.PWNED = 1'><b>bold</b>"
    value = {"id": 0, "name": text, "type": text, "chain": False, "op": 0, "function": 0}
    operation = {"id": 0, "kernel": text, "text": text, "function": 0, "parent": None, "line": 1}
    function = {"id": 0, "name": text, "kind": "host", "arguments": [], "results": [0]}
    body = {
        "program": {
            "functions": [{**function, "result_types": [text]}],
            "operations": [{**operation, "operands": [], "results": [0]}],
            "values": [value],
        },
        "layout": {"x": [0], "y": [0], "w": [90], "h": [28], "boxes": []},
        "source": text,
        "functions": [{"name": text, "status": "done"}],
        "events": {"kinds": ["begin", "available"], "kind": [0, 1]}
        | {name: [0, 1] for name in ("time", "op", "instance", "worker", "payload")}
        | {"op": [0, 0], "value": [None, 0]},
        "workers": [text, text],
        "previews": {"0": text},
        "log": [[0, 0, text + "\n"]],
    }
    run = {"version": 2, "run": "r", "status": "done", "note": text, "work_queue": text}
    outputs = [
        nbformat.v4.new_output("display_data", {RUN_MIME: {**run, "body": body}}),
        nbformat.v4.new_output("display_data", {RUN_MIME: {**run, "run": "s", "packed": "no"}}),
        nbformat.v4.new_output("display_data", {RUN_MIME: {"status": "done"}}),
        nbformat.v4.new_output("display_data", {RUN_MIME: 3}),
        nbformat.v4.new_output("display_data", {MISTAKES_MIME: [None, {"line": 1, "col": "x"}]}),
    ]
    cell = nbformat.v4.new_code_cell("%%tfrt", outputs=outputs)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    notebook.lab.store("hostile.ipynb", nbformat.v4.new_notebook(cells=[cell], metadata=metadata))
    notebook.open("hostile.ipynb")
    board = page.locator(".tfrt-board").first
    board.wait_for()
    for name in ("Values", "Graph", "Timeline", "Log", "Source"):
        board.get_by_role("tab", name=name).click()
        assert "<b>bold</b>" in board.get_by_role("tabpanel").inner_text()
    assert board.locator("img, b:text-is('bold')").count() == 0
    assert page.evaluate("() => window.PWNED") is None
    broken = page.locator(".tfrt-board[data-run='s']")
    assert "This run cannot be read" in broken.locator("p").first.inner_text()
    assert page.locator(".tfrt-board").count() == 4


TWO_PLACES = """%%tfrt --expect-error
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %rest = tfrt.div.i32 %one, %zero
  %sum = tfrt.add.i32 %q, %one
  %other, %left = tfrt.div.i32 %one, %zero
  tfrt.return %sum, %other : i32, i32
}"""
TWO_TASKS = """%%tfrt --expect-error
func.func @main() -> !async.token {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = async.execute {
    %x = arith.divsi %one, %zero : i32
    async.yield
  }
  %second = async.execute {
    %y = arith.remsi %one, %zero : i32
    async.yield
  }
  async.await %first : !async.token
  return %second : !async.token
}"""
EDIT = """([old, text]) => {
  const { model } = window.jupyterapp.shell.currentWidget.content.widgets[1];
  model.sharedModel.setSource(model.sharedModel.getSource().replace(old, text));
}"""
SLOW = """%%tfrt --slow 1000000000
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  %three = tfrt.add.i32 %two, %one
  tfrt.return %two, %three : i32, i32
}"""


def test_each_place_of_a_run_that_fails_is_underlined_and_cancel_ends_one_that_is_slow(
    notebook,
) -> None:
    page = notebook.page
    notebook.lab.write("places.ipynb", "%load_ext tfrt_nb", TWO_PLACES, TWO_TASKS, SLOW)
    notebook.open("places.ipynb")
    notebook.run_all()
    cells = page.locator(".jp-CodeCell")
    slow = cells.nth(3).locator(".tfrt-board")
    slow.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".tfrt-board[data-status='cancelled']")
    assert slow.locator("[data-value='%three']").get_attribute("data-state") == "cancelled"

    for place, marked in (1, ["tfrt.div.i32"] * 2), (2, ["arith.divsi", "arith.remsi"]):
        marks = cells.nth(place).locator(".tfrt-underline[data-severity=error]")
        assert marks.all_inner_texts() == marked
    cells.nth(1).locator("[data-value='%other']").click()
    assert cells.nth(1).locator(".tfrt-current").inner_text().strip().startswith("%other")

    # If the user moves a line, it is found again; if the line was edited, no other is marked.
    current, moves = ".tfrt-current:has-text('{}')", ("func.func", "// new\n\nfunc.func")
    for (old, new), marks in (moves, 1), (("%other, ", "%others, "), 0):
        page.evaluate(EDIT, [old, new])
        cells.nth(1).locator("[data-value='%sum']").click()
        page.wait_for_selector(current.format("%sum"))
        cells.nth(1).locator("[data-value='%other']").click()
        page.wait_for_selector(current.format("%sum"), state="detached")
        assert cells.nth(1).locator(current.format("%other")).count() == marks
        assert cells.nth(1).locator(".tfrt-current").count() == marks


def test_a_run_is_cancelled_in_another_window_and_ends_in_both(notebook) -> None:
    page, lab = notebook.page, notebook.lab
    lab.write("windows.ipynb", KERNELS.replace('"open"', '"never"'), PROGRAM)
    notebook.open("windows.ipynb")
    notebook.run_all()
    page.wait_for_selector(ROW.format("%sum", "waiting"))
    notebook.save()

    other = page.context.new_page()
    type(notebook)(other, lab).open("windows.ipynb", kernel=False)
    other.wait_for_selector(".tfrt-board[data-status='running']")
    other.locator(".tfrt-board").get_by_role("button", name="Cancel").click()
    for window in (page, other):
        window.wait_for_selector(".tfrt-board[data-status='cancelled']")
        window.wait_for_selector(ROW.format("%sum", "cancelled"))


def test_a_notebook_that_is_closed_and_opened_again_has_its_run(notebook) -> None:
    page, lab = notebook.page, notebook.lab
    lab.write("closed.ipynb", KERNELS.replace('"open"', '"opened again"'), PROGRAM)
    notebook.open("closed.ipynb")
    notebook.run_all()
    page.locator("[data-value='%sum'][data-state='waiting']").click()  # its line is marked
    notebook.save()
    notebook.command("application:close")
    page.wait_for_selector(".jp-NotebookPanel", state="detached")

    notebook.command("docmanager:open", path="closed.ipynb")
    page.wait_for_selector(".tfrt-board[data-status='running']")
    (lab.notebooks / "opened again").touch()
    page.wait_for_selector(".tfrt-board[data-status='done']")


def test_only_what_ran_after_the_last_save_comes_back_with_a_page(notebook) -> None:
    """The reader has run one cell again, cleared another one, and put Python into a third one."""
    page, lab = notebook.page, notebook.lab
    program = (
        "%%tfrt\nfunc.func @main() -> i32 {{\n  %a = tfrt.constant.i32 {}\n  tfrt.return "
        "%a : i32\n}}"
    )
    lab.write("reload.ipynb", "%load_ext tfrt_nb", *(program.format(number) for number in range(4)))
    notebook.open("reload.ipynb")
    notebook.run_all_and_wait()
    notebook.set_source(1, program.format(11))
    notebook.set_source(3, "'Python'")
    notebook.run_all_and_wait()
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[2].model.clearExecution()"
    )
    notebook.save()
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 4 }")
    for number in (44, 444):
        notebook.set_source(4, program.format(number))
        notebook.command("notebook:run-cell")
        page.wait_for_selector(f"[data-value='%a']:has-text('{number}')")

    notebook.open("reload.ipynb", kernel=False)
    page.wait_for_selector(".jp-CodeCell:nth-child(5) [data-value='%a']:has-text('444')")
    texts = [notebook.outputs(cell).inner_text() for cell in (1, 2, 3)]
    assert "%a result  11" in texts[0]
    assert texts[1] == ""
    assert texts[2].endswith("'Python'")


def test_a_run_whose_kernel_restarts_is_called_the_same_in_both_windows(notebook) -> None:
    page, lab = notebook.page, notebook.lab
    lab.write(
        "gone.ipynb",
        KERNELS.replace('"open"', '"never"'),
        PROGRAM.replace("tfrt", "tfrt --no-wait", 1),
    )
    notebook.open("gone.ipynb")
    notebook.run_all_and_wait()
    page.wait_for_selector(ROW.format("%sum", "waiting"))
    notebook.save()

    other = page.context.new_page()
    type(notebook)(other, lab).open("gone.ipynb", kernel=False)
    other.wait_for_selector(".tfrt-board[data-status='running']")
    page.evaluate(
        "() => { window.restarted = "
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart() }"
    )
    for window in (page, other):
        window.wait_for_selector(".tfrt-board:not([data-status='running'])")
        status = window.locator(".tfrt-board").get_attribute("data-status")
        assert status == "kernel-gone"
    page.evaluate("() => window.restarted")  # a kernel that restarts cannot be shut down


def test_a_page_without_our_extension_has_a_table_that_follows_the_run(notebook) -> None:
    page, lab = notebook.page, notebook.lab
    page.route(f"**/{EXTENSION}/**", lambda route: route.abort())
    steps = PROGRAM.replace("one = ", "zero = ", 1).replace(
        "  %gate", '  %one = "demo.soon"(%zero) : (i32) -> i32\n  %gate', 1
    )
    kernels = f"""{KERNELS.replace('"open"', '"let on"')}
import time
@kernel("demo.soon", blocking=True)
def soon(x: int) -> int:
    while not os.path.exists("soon"):
        time.sleep(0.01)
    return x

%tfrt_config live=tables"""
    lab.write("tables.ipynb", kernels, steps)
    notebook.open("tables.ipynb")
    notebook.run_all()
    row = "tr:has(td:text-is('{}')):has-text('{}')"
    page.wait_for_selector(row.format("%one", "unavailable"))
    (lab.notebooks / "soon").touch()
    page.wait_for_selector(row.format("%one", "blocking 1"))
    assert page.locator(row.format("%gate", "unavailable")).count() == 1
    (lab.notebooks / "let on").touch()
    page.wait_for_selector(row.format("%gate", "● available"))
    assert page.locator(".tfrt-board").count() == 0
