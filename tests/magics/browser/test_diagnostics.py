"""Errors under the cell, where every front end shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

LOAD = f"%run -n {Path(__file__).parents[1] / 'fake_kernel.py'}"


@pytest.mark.parametrize(
    ("program", "message", "underlined"),
    [
        pytest.param(
            "func @f() {\n  %a = oops.op %b\n}", "no such operation: oops", "oops.op", id="compile"
        ),
        pytest.param(
            'func @fail() -> i32 {\n  %a = "tfrt.div"()\n}',
            "Divide by zero",
            '"tfrt.div"',
            id="run",
        ),
    ],
)
def test_the_offending_text_is_underlined_under_the_cell(
    notebook, program: str, message: str, underlined: str
) -> None:
    name = f"{message.split()[0]}.ipynb"
    notebook.lab.write(name, LOAD, f"%%tfrt\n{program}", "print('goes on')")
    notebook.open(name)
    notebook.run_all_and_wait()

    assert notebook.outputs(2).inner_text().strip() == "goes on"
    output = notebook.outputs(1)
    assert message in output.inner_text()
    assert "line 3, column 8" in output.inner_text()
    assert "Traceback" not in output.inner_text()
    marked = output.locator("pre span", has_text=underlined).last
    assert marked.inner_text() == underlined
    style = marked.evaluate("(node) => getComputedStyle(node).borderBottom")
    assert style == "2px solid rgb(213, 94, 0)"
    notebook.picture(f"wrong_{underlined[1:4]}")
