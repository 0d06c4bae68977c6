"""What all tests share: a check that nothing is left behind, a host, and what is left out without a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.leaks import nothing_left_behind

from tfrt_runtime.host.context import HostContext

# No limit on the time of an example: on a loaded machine it takes longer.
settings.register_profile("tests", settings(deadline=None))
settings.load_profile("tests")

LEFT_OUT = pytest.StashKey[int]()


@pytest.fixture
def leak_check() -> Iterator[None]:
    """Fail the test when something that it made is still alive after it."""
    with nothing_left_behind():
        yield


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    """A host on the single-threaded queue, and then on one with two workers."""
    with HostContext(request.param) as made:
        yield made


def may_lack_a_browser() -> bool:
    """Whether browser tests cannot run here, and that is no error: on the build machine it is one."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return found is None and os.environ.get("CI") != "true"


# Last: the folder of the browser tests gives them their marker in a hook of its own.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    browser = [item for item in items if item.get_closest_marker("browser")]
    others = [item for item in items if item not in browser]
    if may_lack_a_browser():
        config.stash[LEFT_OUT] = len(browser)
        config.hook.pytest_deselected(items=browser)
        browser = []
    # At the end: Playwright's event loop stays on this thread, where no other may then be run.
    items[:] = [*others, *browser]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"Chromium is not installed: {count} browser tests were left out"
            " (apt-get install chromium)",
            yellow=True,
        )
