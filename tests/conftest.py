"""Provide all tests with a leak check, a host, and a limit on processor time.

Browser tests are skipped if there is no browser.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_timeout
from hypothesis import settings
from tests.leaks import nothing_left_behind

from tfrt_runtime.host.context import HostContext

# A shell starts background jobs with SIGINT ignored, and children inherit that, but tests interrupt
# scripts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples have no time limit, because they take longer on a loaded machine.
settings.register_profile("tests", settings(deadline=None))
settings.load_profile("tests")

LEFT_OUT = pytest.StashKey[int]()
HANGS = 0.01
"""The processor share below which a test counts as hanging.

Even at a load of 20, a slow test uses more.
"""


@pytest.fixture
def leak_check() -> Iterator[None]:
    """Fail the test if an object that it created is still alive after it."""
    with nothing_left_behind():
        yield


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    """A host, first on the single-threaded queue, and then on a queue with two workers."""
    with HostContext(request.param) as made:
        yield made


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool:
    """Limit a test's processor time, including that of its processes.

    On a busy machine, a test gets a fraction of a processor. So when the time is up, a test that
    has used less processor time than that continues, unless it has used next to none, like a test
    that hangs.
    """
    begun = before = sum(os.times()[:4])  # cheap, and exact unless child processes already run

    def expired(*_: object) -> None:
        nonlocal before
        now = processor_seconds()
        if HANGS * settings.timeout < now - before and now - begun < settings.timeout:
            before = now
            signal.setitimer(signal.ITIMER_REAL, settings.timeout)
            return
        load = f"{now - begun:.0f} s of processor time; the load is {os.getloadavg()[0]:.1f}"
        item.add_report_section("call", "limit", load)
        pytest_timeout.timeout_sigalrm(item, settings)

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    vars(item)["cancel_timeout"] = cancel  # which pytest-timeout calls
    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout)
    return True


def processor_seconds() -> float:
    """Return the processor time of this process and its descendants.

    Exited processes count if they were waited for.
    """
    ticks, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        pid = int(path.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    tree = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")


def may_lack_a_browser() -> bool:
    """Return whether browser tests may be skipped if there is no browser.

    On the build machine, a missing browser is an error.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return found is None and os.environ.get("CI") != "true"


# This hook runs last, because the folder of the browser tests adds their marker in its own hook.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    browser = [item for item in items if item.get_closest_marker("browser")]
    others = [item for item in items if item not in browser]
    if may_lack_a_browser():
        config.stash[LEFT_OUT] = len(browser)
        config.hook.pytest_deselected(items=browser)
        browser = []
    # They run at the end, because Playwright's event loop stays on this thread, which then cannot
    # run another.
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
