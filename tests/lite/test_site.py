"""Test the site that `make lite` built: start, run, error, replay, links, and a page's limits.

`make test-everywhere` builds the site; without it, these tests are skipped. They take minutes. To
run them by hand, use `make lite` and then `make test TESTS=tests/lite`. TFRT_SCREENSHOTS names a
folder for pictures.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.lite.conftest import CURRENT, IS_IDLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lite.conftest import Page

EXAMPLE = """%%tfrt
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %one, %two
  tfrt.return %sum : i32
}"""
KERNELS = """import asyncio, time
import tfrt_nb as tfrt

@tfrt.kernel
def nap(x: int) -> int:
    time.sleep(0.3)
    return x + 1

@tfrt.kernel
async def later(x: int) -> int:
    await asyncio.sleep(0.3)
    return x * 2

@tfrt.kernel("lab.nap")
def long_nap(x: int) -> int:
    time.sleep(30)
    return x

@tfrt.kernel("lab.later")
async def much_later(x: int) -> int:
    await asyncio.sleep(30)
    return x

@tfrt.program
def both(x: int) -> int:
    return later(nap(later(nap(x))))
"""


def test_the_first_page_is_the_list_of_tutorials(page: Page) -> None:
    page.page.goto(page.address)
    page.page.get_by_role("heading", name="Asynchronous dataflow, from nothing").wait_for()
    page.picture("lite_start")


def test_a_cell_runs_and_its_board_replays(page: Page) -> None:
    page.new()
    cell = page.run("%load_ext tfrt_nb", EXAMPLE)

    board = cell.locator(".tfrt-board").first
    board.get_by_text("@main done").first.wait_for()
    page.picture("lite_run")
    board.get_by_role("group", name="Results").get_by_text("= 3").wait_for()
    for _ in range(6):
        board.get_by_role("button", name="Step back").click()
    page.picture("lite_replay")
    board.get_by_text("@main replay").wait_for()
    earlier = board.get_by_role("group", name="Results").inner_text()
    assert "= 3" not in earlier, earlier


def test_an_error_is_underlined_in_its_cell(page: Page) -> None:
    cell = page.run(EXAMPLE.replace("%two = tfrt.constant.i32 2", ""))

    cell.get_by_text("TfrtError: '%two' is not defined").first.wait_for()
    page.picture("lite_error")
    assert cell.locator(".tfrt-underline[data-severity=error]").inner_text() == "%two"


def test_python_kernels_that_sleep_and_that_await_run(page: Page) -> None:
    cell = page.run(KERNELS, "print(both(3).result(), await both(4))")

    assert cell.locator(".jp-OutputArea").inner_text().strip() == "18 22"


def test_a_run_on_the_board_of_python_ends(page: Page) -> None:
    cell = page.run("both(5)")

    cell.get_by_text("done").first.wait_for()
    page.picture("lite_python")
    assert "26" in cell.locator(".jp-OutputArea").inner_text()


@pytest.mark.parametrize(
    "operation",
    [
        "demo.wait.i32 %one {seconds = 30.0}",
        '"lab.nap"(%one) : (i32) -> i32',
        '"lab.later"(%one) : (i32) -> i32',
    ],
    ids=["a host operation", "a kernel that sleeps", "a coroutine"],
)
def test_cancel_ends_a_wait_of_thirty_seconds(page: Page, operation: str) -> None:
    two = EXAMPLE.replace("tfrt.constant.i32 2", operation)
    board = page.run(two, waits=False).locator(".tfrt-board").first
    board.get_by_role("button", name="Cancel", exact=True).click()

    board.get_by_text("cancelled on the board").first.wait_for()
    took = re.search(r"([0-9.]+) (m?s)\b", board.locator(".head").inner_text())
    assert took is not None, board.inner_text()
    assert took[2] == "ms" or float(took[1]) < 25, board.inner_text()
    page.page.wait_for_function(IS_IDLE)


def test_a_question_of_the_page_is_answered_between_cells(page: Page) -> None:
    cell = page.run(EXAMPLE)
    board = cell.locator(".tfrt-board").first
    board.get_by_role("tab", name="Stages").click()
    page.picture("lite_stages")
    board.get_by_text("tfrt.add.i32").first.wait_for()


def test_a_wrong_answer_of_an_exercise_gets_its_hint(page: Page) -> None:
    cell = page.run("%%tfrt_check start.ready\n[left]")

    cell.get_by_text(
        "Does the second multiplication need the result of the first?"
    ).first.wait_for()
    page.picture("lite_hint")


HOSTILE = "%%bash\nrm -rf .\n%%python\nprint('ran')\n!ls </script><script>alert(1)</script>"


@pytest.mark.parametrize("source", [EXAMPLE.partition("\n")[2], HOSTILE])
def test_a_link_opens_its_program_and_runs_nothing(page: Page, source: str, tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(source)
    command = [sys.executable, "-m", "tfrt_nb", "share", program, "--site", page.address]
    link = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    # JupyterLab restores an unsaved notebook, and asks for its kernel.
    page.page.evaluate(f"() => {CURRENT}.context.save()")
    page.page.goto("about:blank")
    page.page.goto(link)
    page.page.wait_for_function(
        "source => window.jupyterapp?.shell?.currentWidget?.content?.widgets?.[1]"
        "?.model?.sharedModel?.getSource() === source",
        arg=f"%%tfrt\n{source}",
    )
    page.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
        "?.status === 'idle'"
    )
    counts = page.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map("
        "({ model }) => [model.executionCount, model.outputs.length])"
    )
    assert counts == [[None, 0], [None, 0]]
    assert "#" not in page.page.url
    page.picture("lite_link")
    if source == HOSTILE:
        page.page.evaluate(
            "() => window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => null)"
        )
        outputs = page.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea").last
        outputs.get_by_text("TfrtError").first.wait_for()
        assert "\nran" not in outputs.inner_text()


def test_share_puts_a_link_to_the_program_on_the_clipboard(page: Page) -> None:
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.new()
    board = page.run("%load_ext tfrt_nb", EXAMPLE).locator(".tfrt-board").first
    board.get_by_role("button", name="Share").click()
    board.get_by_role("button", name="Copied").wait_for()
    link = page.page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith(f"{page.address}lab/index.html#tfrt=")


WAIT = EXAMPLE.replace("tfrt.constant.i32 2", "demo.wait.i32 %one {seconds = 3.0}")


def run_one(page: Page) -> None:
    """Run a program in the notebook that is open, after loading the extension."""
    board = page.run("%load_ext tfrt_nb", EXAMPLE).locator(".tfrt-board").first
    board.get_by_text("@main done").first.wait_for()


def test_two_tabs_of_the_site_do_not_meet(new_tab: Callable[[str], Page]) -> None:
    tabs = [new_tab("00_start.ipynb"), new_tab("01_values.ipynb")]
    for tab in tabs:
        tab.page.wait_for_function(IS_IDLE)
        tab.run("%load_ext tfrt_nb")
    boards = [
        tab.run(WAIT.replace("3.0", seconds), waits=False).locator(".tfrt-board").first
        for tab, seconds in zip(tabs, ["60.0", "3.0"], strict=True)
    ]
    boards[0].get_by_role("button", name="Cancel", exact=True).click()

    boards[0].get_by_text("@main cancelled").first.wait_for()
    boards[1].get_by_text("@main done").first.wait_for()


def test_a_reload_in_the_middle_of_a_run_brings_back_its_saved_board(
    new_tab: Callable[[str], Page],
) -> None:
    tab = new_tab("00_start.ipynb")
    tab.page.wait_for_function(IS_IDLE)
    tab.run("%load_ext tfrt_nb")
    tab.run(WAIT.replace("3.0", "60.0"), waits=False)
    tab.page.wait_for_function(f"() => {CURRENT}.content.widgets.at(-2).model.outputs.length")
    tab.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    tab.page.reload()
    tab.open("00_start.ipynb")

    run_one(tab)
    tab.page.get_by_text("@main was running when the file was saved").first.wait_for()
    assert "[*]" not in tab.page.locator(".jp-NotebookPanel").inner_text()


def test_a_run_goes_on_after_its_tab_was_frozen(page: Page) -> None:
    board = page.run(WAIT, waits=False).locator(".tfrt-board").first
    board.get_by_text("@main running").first.wait_for()
    line = page.page.context.new_cdp_session(page.page)
    for state in ("frozen", "active"):
        line.send("Page.setWebLifecycleState", {"state": state})
        time.sleep(5)

    board.get_by_text("@main done").first.wait_for()


def test_an_open_page_needs_no_network(page: Page) -> None:
    page.page.context.set_offline(True)
    run_one(page)
    page.page.context.set_offline(False)


def test_restart_ends_an_endless_loop_of_python(page: Page) -> None:
    page.run("while True: pass", waits=False)
    page.page.wait_for_timeout(1000)
    page.page.evaluate(f"() => {CURRENT}.sessionContext.session.kernel.restart()")

    page.page.wait_for_function(IS_IDLE)
    run_one(page)
