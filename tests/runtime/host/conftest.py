"""Tests of the host leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.request import NEW_REQUEST, Request


@pytest.fixture(autouse=True)
def nothing_is_left(leak_check: None) -> None:
    """Every test of this folder is checked."""


@pytest.fixture
def new_request() -> Callable[..., Request]:
    """`new_request(host)`: a run without a function."""

    def make(host: HostContext, output: Sink | None = None) -> Request:
        request = Request(host, output)
        request.open(NEW_REQUEST)
        request.become_known()
        return request

    return make
