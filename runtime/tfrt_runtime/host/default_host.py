"""The host of runs for which the program names none."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING

from tfrt_runtime.callers import require
from tfrt_runtime.host.context import HURRY_SECONDS, HostContext
from tfrt_runtime.host.values.async_value import OF_FUTURE, AsyncValue
from tfrt_runtime.host.values.futures import from_future, is_future

if TYPE_CHECKING:
    from tfrt_runtime.host.values.async_value import Future


class _Default:
    """The default host, and all that were one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.host: HostContext | None = None
        self.all: list[HostContext] = []

    def replace(self, host: HostContext | None) -> None:
        self.host = host
        if host is not None and host not in self.all:
            self.all = [one for one in self.all if not one.is_closed] + [host]


_default = _Default()


def default_host() -> HostContext:
    """The host of this process, made with the work queue `mstd` when it is first asked for.

    It is closed when the interpreter ends.  One that is closed before is replaced by a new one.
    """
    host = _default.host
    if host is not None and not host.is_closed:
        return host
    with _default.lock:
        if _default.host is None or _default.host.is_closed:
            _default.replace(HostContext())
        assert _default.host is not None
        return _default.host


def set_default_host(host: HostContext | None) -> None:
    """Let `host` be the default host; with None, the next one is made when it is asked for.

    The host that was the default goes on.  Each that was one is closed when the interpreter ends.
    """
    is_host = host is None or isinstance(host, HostContext)
    require(is_host, "the default host", "a HostContext or None", host)
    with _default.lock:
        _default.replace(host)


def of_future(future: Future) -> AsyncValue:
    """See `AsyncValue.from_future`."""
    if not is_future(future):
        raise TypeError(f"expected a future, found {type(future).__name__}")
    made = from_future(default_host().work_queue, future)
    came = made.reference()

    def cancel() -> None:
        if came.cancelled():
            future.cancel()

    made.and_then(cancel)
    return made


OF_FUTURE[:] = [of_future]


@atexit.register
def _close() -> None:
    for host in _default.all:
        host.close(HURRY_SECONDS)
