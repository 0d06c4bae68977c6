"""Run JupyterLab on this machine only, and view it with Debian's Chromium.

Everything is private to the test run: folders, settings, token, and port. Each test also proves
that the notebook needs no network: a request to another machine fails it.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import nbformat
import pytest

import tfrt_pages

if TYPE_CHECKING:
    from playwright.sync_api import Page

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:", "about:")
START_SECONDS = 180
OTHERS = (
    "Cannot read properties of undefined (reading 'schema')",
    "Canceled future for ",
)
"""Messages that we do not cause: Notebook 7.6's, and JupyterLab's if a kernel exits too early."""
NAME = "tfrt-nb-labextension"
APPS = {"lab": ("LabApp", "lab/tree"), "notebook": ("JupyterNotebookApp", "notebooks")}
"""The class of each application's settings, and the path of notebooks in its addresses."""
APP = os.environ.get("TFRT_JUPYTER", "lab")
"""The tested application: JupyterLab or, with TFRT_JUPYTER=notebook, Notebook 7.

It may be installed in another environment.
"""
PROJECT = Path(__file__).parents[3]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: opens JupyterLab in Chromium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            # Starting JupyterLab on a busy machine takes a while; a test that hangs still ends.
            item.add_marker(pytest.mark.timeout(480))


def _leave_out(reason: str) -> NoReturn:
    """Skip a test that cannot run here; on the build machine, it fails instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _needed(module: str, name: str) -> Any:
    """Import a module that the tests need."""
    try:
        return importlib.import_module(module)
    except ImportError:
        _leave_out(f"{name} is not installed")


def _chromium() -> str:
    """Return the path of Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        _leave_out("Chromium is not installed (apt-get install chromium)")
    return path


class Lab:
    """A running JupyterLab or Notebook: its address, its token, and the folder of its notebooks."""

    def __init__(self, url: str, token: str, notebooks: Path, app: str = APP) -> None:
        self.url, self.token, self.notebooks, self.app = url, token, notebooks, app

    def write(self, name: str, *cells: str) -> None:
        """Write a new notebook with these code cells."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": kernel},
        )
        self.store(name, notebook)

    def store(self, name: str, notebook: nbformat.NotebookNode) -> None:
        nbformat.write(notebook, self.notebooks / name)

    def read(self, name: str) -> nbformat.NotebookNode:
        return nbformat.read(self.notebooks / name, as_version=4)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab with our extension, assembled as in the wheel."""
    home = tmp_path_factory.mktemp("lab")
    tfrt_pages.write_pages(home / "path" / "labextensions" / NAME)
    with _serve(home) as lab:
        yield lab


@pytest.fixture(scope="session")
def plain_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab without our extension."""
    home = tmp_path_factory.mktemp("plain")
    disabled = {"disabledExtensions": {NAME: True}}
    _write_json(home / "config" / "labconfig" / "page_config.json", disabled)
    with _serve(home, "lab") as lab:
        yield lab


@pytest.fixture(scope="session")
def notebook_7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Notebook 7 with our extension."""
    _needed("notebook", "Notebook 7")
    home = tmp_path_factory.mktemp("seven")
    tfrt_pages.write_pages(home / "path" / "labextensions" / NAME)
    with _serve(home, "notebook") as lab:
        yield lab


@contextmanager
def served(home: Path, module: str, *arguments: str) -> Iterator[str]:
    """Serve a page with another front end's module, and yield its address."""
    _needed(module, module)
    _chromium()
    home.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    command = [sys.executable, "-m", module, *arguments, f"--port={port}"]
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(command, env=_environment(home), stdout=log, stderr=log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/static/", server, home)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(60)


@contextmanager
def _serve(home: Path, app: str = APP) -> Iterator[Lab]:
    _needed("jupyterlab", "JupyterLab")
    _chromium()
    notebooks = home / "notebooks"
    notebooks.mkdir()
    port, token = _free_port(), "for-this-test-run"
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            _command(port, token, notebooks, app), env=_environment(home), stdout=log, stderr=log
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, home)
            yield Lab(f"http://127.0.0.1:{port}", token, notebooks, app)
        finally:
            server.terminate()
            server.wait(60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(port: int, token: str, notebooks: Path, app: str) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyter", app, "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--port-retries=0"),
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={notebooks}",
        f"--{APPS[app][0]}.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]


def _environment(home: Path) -> dict[str, str]:
    private = {
        "HOME": "home",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_PATH": "path",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    for folder in private.values():
        (home / folder).mkdir(parents=True, exist_ok=True)
    _ask_no_questions(home / "settings")
    folders = {name: str(home / folder) for name, folder in private.items()}
    # Only the compiled native core is shared, because compiling it takes half a minute.
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {
        **os.environ,
        **folders,
        "JUPYTER_PREFER_ENV_PATH": "1",
        "XDG_CACHE_HOME": cache,
    }


def _ask_no_questions(settings: Path) -> None:
    """Turn off the question about JupyterLab's news, which would cover a part of the page."""
    folder = settings / "@jupyterlab" / "apputils-extension"
    _write_json(folder / "notification.jupyterlab-settings", {"fetchNews": "false"})


def _write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def _wait_for(address: str, server: subprocess.Popen[bytes], home: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except urllib.error.HTTPError:  # it answers
            return
        except OSError:
            pass
        # Unlike a sleep, this ends as soon as the server exits.
        with suppress(subprocess.TimeoutExpired):
            server.wait(0.25)
            break
    pytest.fail("the server did not start:\n" + (home / "server.log").read_text()[-3000:])


class Notebook:
    """A notebook open in the browser."""

    def __init__(self, page: Page, lab: Lab) -> None:
        self.page, self.lab = page, lab

    def open(self, name: str, *, kernel: bool = True) -> None:
        """Load the page; return when the cells are shown and, if wanted, the kernel is idle."""
        address = f"{self.lab.url}/{APPS[self.lab.app][1]}/{name}?token={self.lab.token}&reset"
        self.page.goto(address, wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=90_000)
        if kernel:
            self.wait_until_idle()

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell?.currentWidget?.sessionContext"
            "?.session?.kernel?.status === 'idle'",
            timeout=90_000,
        )

    def command(self, name: str, **arguments: Any) -> None:
        """Start a command of JupyterLab without waiting for it."""
        self.page.evaluate(
            "([name, args]) => { window.jupyterapp.commands.execute(name, args); }",
            [name, arguments],
        )

    def run_all(self) -> None:
        """Start all cells without waiting for them."""
        self.command("notebook:run-all-cells")

    def run_all_and_wait(self) -> None:
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => null)"
        )

    def set_source(self, cell: int, text: str) -> None:
        """Replace the source of a cell."""
        self.page.evaluate(
            "([cell, text]) => window.jupyterapp.shell.currentWidget.content.widgets[cell]"
            ".model.sharedModel.setSource(text)",
            [cell, text],
        )

    def save(self) -> None:
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def theme(self, name: str) -> None:
        self.page.evaluate(
            "(name) => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})",
            name,
        )

    def shut_down(self) -> None:
        """Shut the kernel down."""
        self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()",
        )

    def picture(self, name: str) -> None:
        """Save a screenshot of the page in the folder that TFRT_SCREENSHOTS names, if it is set."""
        if folder := os.environ.get("TFRT_SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/{name}.png")

    def outputs(self, cell: int) -> Any:
        """Return the locator of a cell's outputs."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell).locator(".jp-OutputArea")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    playwright = _needed("playwright.sync_api", "Playwright")
    path = _chromium()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def browser_page(chromium: Any) -> Iterator[Any]:
    """An empty page, which must make no requests to other machines and report no errors."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    foreign: list[str] = []
    failures: list[str] = []
    page.on("request", lambda each: each.url.startswith(LOCAL) or foreign.append(each.url))

    def note(problem: object) -> None:
        if not any(known in str(problem) for known in OTHERS):
            failures.append(str(problem))

    page.on("pageerror", note)
    yield page
    page.evaluate("() => window.jupyterapp?.serviceManager.sessions.shutdownAll()")
    context.close()
    assert (foreign, failures) == ([], [])


@pytest.fixture
def notebook(lab: Lab, browser_page: Any) -> Iterator[Notebook]:
    """A page in JupyterLab; no kernel may have received a request that it does not know."""
    yield Notebook(browser_page, lab)
    assert "UNKNOWN CONTROL" not in (lab.notebooks.parent / "server.log").read_text()
