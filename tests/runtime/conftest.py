"""A host for tests of the runtime, on both kinds of queue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfrt_runtime.host.context import HostContext


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    """A host on the single-threaded queue, and then on one with two workers."""
    with HostContext(request.param) as made:
        yield made
