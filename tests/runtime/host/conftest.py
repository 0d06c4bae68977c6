"""Check that tests of the host leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.request import NEW_REQUEST, Request


@pytest.fixture(autouse=True)
def nothing_is_left(leak_check: None) -> None:
    """Check that a test in this folder leaves nothing behind."""


@pytest.fixture
def new_request() -> Callable[..., Request]:
    """A function: `new_request(host)` returns a run without a function."""

    def make(host: HostContext, output: Sink | None = None) -> Request:
        request = Request(host, output)
        request.open(NEW_REQUEST)
        request.become_known()
        return request

    return make
