"""Open the site that `make lite` built in Chromium, under a subpath, without other machines."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[2] / "build" / "lite"
PATH = "/my/course"
SECONDS = 300
"""The time limit in seconds.

A page takes 10 s to start its kernel, and ten times that on a busy machine.
"""
CURRENT = "window.jupyterapp.shell.currentWidget"
IS_IDLE = f"() => {CURRENT}?.sessionContext?.session?.kernel?.status === 'idle'"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Raise the time limit of these tests, and skip them without a built site."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(1500))
            if not (SITE / "index.html").exists():
                item.add_marker(pytest.mark.skip(reason="make lite builds the site"))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site below `PATH`, and shows its application to tests."""

    def translate_path(self, path: str) -> str:
        assert path.startswith(PATH) or path == "/favicon.ico", path
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

    def open(self, name: str, waits: bool = True) -> None:
        """Open a notebook and wait for its kernel.

        It is shown in front of what the browser restores from an earlier visit.
        """
        if not self.page.url.startswith(f"{self.address}lab/"):
            self.page.goto(f"{self.address}lab/index.html")
        self.page.wait_for_function("() => window.jupyterapp?.restored")
        self.page.evaluate(
            "async path => { await window.jupyterapp.restored;"
            " await window.jupyterapp.commands.execute('docmanager:open', { path }); }",
            name,
        )
        self.page.wait_for_function(f"path => {CURRENT}?.context?.path === path", arg=name)
        if waits:
            self.page.wait_for_function(IS_IDLE, timeout=SECONDS * 1000)

    def close(self) -> None:
        """Close the notebook with its kernel, unsaved."""
        self.page.evaluate(
            f"async () => {{ const widget = {CURRENT}; await widget.sessionContext.shutdown();"
            " widget.dispose(); }"
        )

    def new(self) -> None:
        """Open an empty notebook, for running cells one by one."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('notebook:create-new', {kernelName: "
            "'python'})"
            ".then(() => null)"
        )
        self.page.wait_for_function(IS_IDLE, timeout=SECONDS * 1000)

    def run_all(self) -> tuple[list[int | None], list[list[dict[str, Any]]]]:
        """Run all code cells, without their saved outputs; return their numbers and outputs."""
        self.page.evaluate(
            f"async () => {{ const cells = {CURRENT}.content.widgets.filter(c => c.outputArea);"
            " for (const { model } of cells) { model.executionCount = null; "
            "model.outputs.clear(); }"
            " await window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
        )
        self.page.wait_for_timeout(1000)  # time for work between cells to show its end
        found = self.page.evaluate(
            f"() => {CURRENT}.content.widgets.filter(c => c.outputArea).map(({{ model }}) =>"
            " [model.executionCount, model.outputs.toJSON()])"
        )
        return [count for count, _ in found], [outputs for _, outputs in found]

    def run(self, *texts: str, waits: bool = True) -> Any:
        """Run sources in new cells at the end, and return the locator of the last one."""
        for text in texts:
            name = self.page.evaluate(
                "async ([text, waits]) => { const { content } ="
                " window.jupyterapp.shell.currentWidget;"
                " const last = content.widgets.length - 1;"
                " content.model.sharedModel.insertCell(last, {cell_type: 'code', source: text});"
                " content.activeCellIndex = last;"
                " const done = window.jupyterapp.commands.execute('notebook:run-cell');"
                " if (waits) await done;"
                " content.activeCellIndex = content.widgets.length - 1;"
                " const { node, model } = content.widgets[last];"
                " return node.dataset.test = model.id; }",
                [text, waits],
            )
        return self.page.locator(f"[data-test='{name}']")

    def picture(self, name: str) -> None:
        if folder := os.environ.get("TFRT_SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/{name}.png")


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    """A page for all tests, because starting one takes most of their time."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_context(viewport={"width": 1200, "height": 1100}).new_page()
        opened.set_default_timeout(SECONDS * 1000)
        opened.context.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
        yield Page(opened, address)
        browser.close()


@pytest.fixture
def new_tab(page: Page) -> Iterator[Callable[[str], Page]]:
    """Open notebooks in tabs of a browser that has not visited the site, so none are restored.

    Their kernels are still starting.
    """
    context = page.page.context.browser.new_context()
    context.set_default_timeout(SECONDS * 1000)

    def start(name: str) -> Page:
        tab = Page(context.new_page(), page.address)
        tab.open(name, waits=False)
        return tab

    yield start
    context.close()
