"""Test the help that JupyterLab shows while a cell is written, even if the kernel is busy."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import TimeoutError as PageTimeoutError

WAITS = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
ADD = """%%tfrt
func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %sum = tfrt.ad
  tfrt.return %six : i32
}"""
ITEM = ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-item"


def begin(notebook: Any, name: str, *cells: str, busy: bool = False) -> None:
    """Open a notebook whose first cell loads the extension; if `busy`, another cell waits."""
    (notebook.lab.notebooks / "go").unlink(missing_ok=True)
    notebook.lab.write(name, "%load_ext tfrt_nb", *cells, *[WAITS] * busy)
    notebook.open(name)
    notebook.command("notebook:run-cell-and-select-next")
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.executionCount === 1"
    )
    notebook.wait_until_idle()
    if busy:
        place(notebook, len(cells) + 1, 0)
        notebook.command("notebook:run-cell")
        notebook.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status "
            "=== 'busy'"
        )


def place(notebook: Any, cell: int, offset: int) -> None:
    """Put the cursor into a cell."""
    notebook.page.evaluate(
        """([cell, offset]) => {
          const { content } = window.jupyterapp.shell.currentWidget;
          content.activeCellIndex = cell;
          content.mode = "edit";
          const { editor } = content.widgets[cell];
          editor.focus();
          editor.setCursorPosition(editor.getPositionAt(offset));
        }""",
        [cell, offset],
    )


def press_tab(notebook: Any) -> Any:
    """Press Tab until completions appear, and return them.

    JupyterLab waits a second for the first ones, which may take longer on a busy machine.
    """
    items = notebook.page.locator(ITEM)
    for _ in range(30):
        notebook.page.keyboard.press("Tab")
        with suppress(PageTimeoutError):
            items.first.wait_for(timeout=2000)
            break
    return items


def source(notebook: Any, cell: int = 1) -> str:
    return str(
        notebook.page.evaluate(
            "(cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell].model.sharedModel.getSource()",  # noqa: E501
            cell,
        )
    )


@pytest.mark.parametrize("busy", [False, True])
def test_the_kernel_that_takes_the_types_in_scope_is_the_first_of_the_list(
    notebook, busy: bool
) -> None:
    page = notebook.page
    begin(notebook, f"complete_{busy}.ipynb", ADD, busy=busy)
    place(notebook, 1, ADD.index("ad\n") + 2)
    items = press_tab(notebook)
    notebook.picture(f"complete_{'busy' if busy else 'idle'}")
    first = items.first.inner_text().split("\n")
    assert first[0].strip() == "k" and "tfrt.add.i32 (i32, i32) -> i32" in first[1]
    assert first[-1] == "kernel"
    # Each row is one line.
    rows = items.evaluate_all(
        "(all) => all.map(n => n.querySelector('code').getClientRects().length)"
    )
    assert set(rows) == {1}
    # Another key filters, and keeps the order.
    page.keyboard.type("d_")
    page.wait_for_function(f"() => document.querySelectorAll({ITEM!r}).length < 8")
    assert items.first.get_attribute("data-value") == "tfrt.add_s.i32"
    page.keyboard.press("Enter")
    assert "  %sum = tfrt.add_s.i32\n" in source(notebook)
    (notebook.lab.notebooks / "go").touch()


WRONG = """%%tfrt
func.func @main(%n: i32) -> i32 {  // 😀
  %six = tfrt.constant.i32 6
  %sum = tfrt.addd.i32 %six, %n
  %x = tfrt.add.i32 %sxi, %sum
  tfrt.return %sum : i32
}"""
RIGHT = WRONG.replace("addd", "add").replace("%sxi", "%six")
CURSOR = """() => {
  const { editor } = window.jupyterapp.shell.currentWidget.content.activeCell;
  return editor.getOffsetAt(editor.getCursorPosition());
}"""


def in_page(text: str, words: str) -> int:
    """Return the position of words in a source, in JavaScript's units."""
    return len(text[: text.index(words)].encode("utf-16-le")) // 2


def wait_for(notebook: Any, text: str) -> None:
    notebook.page.wait_for_function(
        """text => window.jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel.getSource() === text""",  # noqa: E501
        arg=text,
    )


def test_mistakes_are_visited_and_fixed_and_names_changed_while_a_cell_runs(notebook) -> None:
    page = notebook.page
    begin(notebook, "fix.ipynb", WRONG, busy=True)
    place(notebook, 1, 0)
    page.wait_for_selector(".tfrt-underline[title*='tfrt.addd.i32']", state="attached")
    for words in ("tfrt.addd", "%sxi", "tfrt.addd"):
        page.keyboard.press("F8")
        assert page.evaluate(CURSOR) == in_page(WRONG, words)
    page.keyboard.press("Shift+F8")
    assert page.evaluate(CURSOR) == in_page(WRONG, "%sxi")
    page.keyboard.press("Control+.")
    wait_for(notebook, WRONG.replace("%sxi", "%six"))
    place(notebook, 1, in_page(WRONG, "tfrt.addd"))
    page.keyboard.press("Control+.")
    wait_for(notebook, RIGHT)
    page.wait_for_selector(".tfrt-underline", state="detached")

    place(notebook, 1, in_page(RIGHT, "%sum") + 2)
    page.keyboard.press("F2")
    page.wait_for_selector(".jp-Dialog input")
    notebook.picture("rename")
    page.keyboard.press("Control+a")
    page.keyboard.type("six")
    page.keyboard.press("Enter")
    refusal = page.locator(".jp-Dialog-body", has_text="%six is already defined: line 3")
    refusal.wait_for()
    page.keyboard.press("Enter")
    refusal.wait_for(state="detached")
    assert source(notebook) == RIGHT
    page.keyboard.press("F2")
    page.wait_for_selector(".jp-Dialog input")
    page.keyboard.press("Control+a")
    page.keyboard.type("total")
    page.keyboard.press("Enter")
    total = RIGHT.replace("%sum", "%total")
    wait_for(notebook, total)

    # The typed name replaces all uses.
    place(notebook, 1, in_page(total, "%total") + 2)
    page.keyboard.press("Shift+F12")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.activeCell.editor.editor.state.selection.ranges.length === 3"  # noqa: E501
    )
    notebook.picture("uses")
    page.keyboard.type("%t")
    wait_for(notebook, RIGHT.replace("%sum", "%t"))
    (notebook.lab.notebooks / "go").touch()


def test_what_is_missing_is_written_and_what_comes_next_is_shown(notebook) -> None:
    page = notebook.page
    lines = RIGHT.split("\n")
    text = "\n".join([*lines[:-2], lines[-1]])  # without the return
    begin(notebook, "missing.ipynb", text, busy=True)
    place(notebook, 1, in_page(text, "%x ="))
    page.wait_for_selector(".tfrt-underline[title*='end the function']", state="attached")
    page.keyboard.press("Control+.")
    wait_for(notebook, text.removesuffix("}") + "  tfrt.return %x : i32\n}")
    page.keyboard.press("Enter")
    page.keyboard.type("%y = tfrt.add.i32 %x,")
    shown = page.locator(".tfrt-signature b", has_text="i32")
    page.wait_for_function(
        "() => document.querySelector('.tfrt-signature b')?.previousSibling.data === "
        "'tfrt.add.i32  (i32, '"
    )
    notebook.picture("signature")
    page.keyboard.press("Escape")
    shown.wait_for(state="detached")
    (notebook.lab.notebooks / "go").touch()


def test_the_mouse_over_a_name_explains_it_while_a_cell_runs(notebook) -> None:
    page = notebook.page
    begin(notebook, "hover.ipynb", RIGHT, busy=True)
    page.locator(".jp-CodeCell").nth(1).locator("span", has_text="tfrt.constant.i32").last.hover()
    page.wait_for_selector(".tfrt-hover")
    notebook.picture("hover")
    text = page.locator(".tfrt-hover").inner_text()
    assert text.startswith("tfrt.constant.i32  () -> i32") and "For example:" in text
    (notebook.lab.notebooks / "go").touch()


def test_braces_indent_programs_by_two_and_leave_python_alone(notebook) -> None:
    page = notebook.page
    begin(notebook, "indent.ipynb", "%%tfrt\n", "x = 1")
    lines = (
        "func.func @f(%n: i32) -> i32 {",
        "%a = tfrt.repeat.i32 %n, %n : i32 {",
        "tfrt.return %n : i32",
        "}",
        "tfrt.return %a : i32",
        "}",
    )
    place(notebook, 1, len("%%tfrt\n"))
    for line in lines:
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    notebook.picture("indent")
    depths = (0, 2, 4, 2, 2, 0)
    wanted = [" " * depth + line for depth, line in zip(depths, lines, strict=True)]
    assert source(notebook).rstrip().split("\n")[1:] == wanted
    place(notebook, 2, 5)
    for line in ("", "if x:", "y"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    assert source(notebook, 2).rstrip() == "x = 1\nif x:\n    y"
