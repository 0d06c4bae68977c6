"""What all tests share: a check that nothing is left behind, a host, a limit of processor time, and what is left out
without a browser.
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

# A shell's background job starts with SIGINT ignored, and its children inherit that: tests interrupt scripts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No limit on the time of an example: on a loaded machine it takes longer.
settings.register_profile("tests", settings(deadline=None))
settings.load_profile("tests")

LEFT_OUT = pytest.StashKey[int]()
HANGS = 0.01
"""A test that hangs uses a smaller share of a processor; at a load of 20, one that is slow uses more."""


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


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool:
    """Let the limit of a test be processor time, its own and that of its processes.

    On a busy machine a test gets a fraction of a processor.  So when the time is over, a test goes on
    that has used less processor time than that, unless it has used next to none, as what hangs does.
    """
    begun = before = sum(os.times()[:4])  # cheap, and the same unless processes run already

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
    """What this process and its descendants have used, also those that are gone if they were waited for."""
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
