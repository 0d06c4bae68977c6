"""Help while a cell is written: what the reader sees in JupyterLab, also while the kernel is busy."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")

WAITS = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
ADD = """%%tfrt
func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %sum = tfrt.ad
  tfrt.return %six : i32
}"""
ITEM = ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-item"


def begin(notebook: Any, name: str, *cells: str, busy: bool = False) -> None:
    """Open a notebook whose first cell has loaded the extension, with one that waits, if `busy`."""
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
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
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
    """The list of completions.  JupyterLab waits a second for the first, which may take longer on a busy machine."""
    items = notebook.page.locator(ITEM)
    for _ in range(30):
        notebook.page.keyboard.press("Tab")
        with suppress(playwright.TimeoutError):
            items.first.wait_for(timeout=2000)
            break
    return items


def source(notebook: Any, cell: int = 1) -> str:
    return str(
        notebook.page.evaluate(
            "(cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell].model.sharedModel.getSource()",
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
