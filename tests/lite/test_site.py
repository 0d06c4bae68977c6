"""The site that `make lite` built, in Chromium, under a subpath and with no other machine to ask.

`make test-everywhere` builds it; without one, these tests are left out.  They take minutes: by hand,
`make lite` and then `make test TESTS=tests/lite`.  TFRT_SCREENSHOTS names a folder for pictures.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[2] / "build" / "lite"
PATH = "/my/course"
SECONDS = 300
"""A page takes 10 s to start its kernel; a busy machine, ten times that."""
pytestmark = [
    pytest.mark.timeout(1500),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make lite builds the site"),
]

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

@tfrt.program
def both(x: int) -> int:
    return later(nap(later(nap(x))))
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site below `PATH`, and shows its application to tests."""

    def translate_path(self, path: str) -> str:
        assert path.startswith(PATH), path
        return str(SITE) + super().translate_path(path.removeprefix(PATH)).removeprefix(os.getcwd())

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != f"{PATH}/jupyter-lite.json":
            super().do_GET()
            return
        config = json.loads((SITE / "jupyter-lite.json").read_text())
        config["jupyter-config-data"]["exposeAppInBrowser"] = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(config).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PATH}/"
        server.shutdown()


class Page:
    """A notebook of the site, open in Chromium."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address

    def open(self, name: str) -> None:
        self.page.goto(f"{self.address}lab/index.html?path={name}")
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=SECONDS * 1000)

    def new(self) -> None:
        """Open an empty notebook, in which cells are run one by one."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('notebook:create-new', {kernelName: 'python'})"
            ".then(() => null)"
        )
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
            "?.status === 'idle'",
            timeout=SECONDS * 1000,
        )

    def run(self, *texts: str) -> Any:
        """Run texts in new cells at the end; the locator of the last one's outputs."""
        for text in texts:
            self.page.evaluate(
                "async text => { const { content, context, sessionContext } ="
                " window.jupyterapp.shell.currentWidget;"
                " const last = content.widgets.length - 1;"
                " content.model.sharedModel.insertCell(last, {cell_type: 'code', source: text});"
                " content.activeCellIndex = last;"
                " await window.jupyterapp.commands.execute('notebook:run-cell');"
                " content.activeCellIndex = content.widgets.length - 1; }",
                text,
            )
        cells = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
        return cells.nth(cells.count() - 2)

    def picture(self, name: str) -> None:
        if folder := os.environ.get("TFRT_SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/{name}.png")


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    """One page for all tests: its start is most of their time."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1200, "height": 1100})
        opened.set_default_timeout(SECONDS * 1000)
        opened.context.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
        yield Page(opened, address)
        browser.close()


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
