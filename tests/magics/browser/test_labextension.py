"""What our extension adds to JupyterLab, and that it takes nothing away."""

from __future__ import annotations

from pathlib import Path

LOAD = f"%run -n {Path(__file__).parents[1] / 'fake_kernel.py'}"
PROGRAM = """%%tfrt -o value
// a comment
func @late() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}"""
TOKENS = """(cell) => [...document.querySelectorAll(".jp-CodeCell")[cell].querySelectorAll(".cm-line span")]
  .map((node) => [node.textContent, getComputedStyle(node).color])"""


def colours(notebook, cell: int) -> dict[str, str]:
    """The colour of each token in a cell's editor."""
    return dict(notebook.page.evaluate(TOKENS, cell))


def test_mlir_has_colours_in_our_cells_and_only_there(extended_notebook) -> None:
    notebook = extended_notebook
    notebook.lab.write("colours.ipynb", PROGRAM, "lambda: None")
    notebook.open("colours.ipynb")
    mlir = colours(notebook, 0)

    words = ("%%tfrt", "-o", "// a comment", "func", "@late", "i32", "%one", "tfrt.return", "1")
    assert [word for word in words if word not in mlir] == []
    assert len({mlir[word] for word in words}) >= 6
    assert "lambda" in colours(notebook, 1)


def test_colours_follow_the_first_line(extended_notebook) -> None:
    notebook = extended_notebook
    notebook.lab.write("typing.ipynb", "func @late")
    notebook.open("typing.ipynb")
    assert "@late" not in colours(notebook, 0)
    notebook.page.locator(".jp-CodeCell .cm-content").click()
    notebook.page.keyboard.press("Control+Home")
    notebook.page.keyboard.type("%%tfrt\n")
    assert "@late" in colours(notebook, 0)


def test_a_saved_run_is_a_board_without_a_kernel(extended_notebook) -> None:
    notebook, page = extended_notebook, extended_notebook.page
    notebook.lab.write("saved.ipynb", LOAD, PROGRAM)
    notebook.open("saved.ipynb")
    notebook.run_all_and_wait()
    notebook.save()
    notebook.shut_down()

    notebook.open("saved.ipynb", kernel=False)
    page.wait_for_selector(".tfrt-board tr[data-name='%1'][data-state='available']")
    assert page.get_by_role("button", name="Cancel").count() == 0
    page.get_by_role("searchbox").fill("41")
    rows = page.locator(".tfrt-board tbody tr:visible")
    assert rows.evaluate_all("(rows) => rows.map((row) => row.dataset.name)") == ["%0"]
    assert page.get_by_role("log").inner_text() == "int32 = 42\n"
    notebook.picture("saved_board")


def test_errors_are_underlined_in_the_cell_until_it_runs_again(extended_notebook) -> None:
    notebook, page = extended_notebook, extended_notebook.page
    notebook.lab.write("wrong.ipynb", LOAD, "%%tfrt\nfunc @f() {\n  %a = oops.op %b\n}")
    notebook.open("wrong.ipynb")
    notebook.run_all_and_wait()
    mark = page.locator(".jp-CodeCell .cm-line .tfrt-error")
    assert mark.evaluate_all("(marks) => marks.map((mark) => [mark.textContent, mark.title])") == [
        ["oops.op", "error: no such operation: oops"]
    ]
    assert mark.evaluate("(node) => getComputedStyle(node).textDecorationStyle") == "wavy"
    notebook.picture("underlined")

    notebook.command("notebook:clear-all-cell-outputs")
    mark.wait_for(state="detached")


def test_without_the_shared_modules_the_extension_does_nothing(extended_notebook) -> None:
    notebook = extended_notebook
    notebook.lab.write("plain.ipynb", "1 + 1")
    notebook.open("plain.ipynb")
    plugins = notebook.page.evaluate(
        """async () => {
          const folder = "/lab/extensions/tfrt-nb-labextension/static/";
          const { createPlugins } = await import(folder + "extension.js");
          return [await createPlugins({}), typeof window._JUPYTERLAB["tfrt-nb-labextension"].get];
        }"""
    )
    assert plugins == [[], "function"]
