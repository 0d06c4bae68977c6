"""The default host, and functions that make values on it."""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from abc import ABC, abstractmethod

from tfrt_runtime.diagnostics import error, place_of_caller, require
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HURRY_SECONDS, HostContext
from tfrt_runtime.host.values.async_value import (
    AsyncValue,
    Future,
    make_available,
    make_unavailable,
)
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.host.values.promises import from_future, is_future


class _Default:
    """The current default host, and the former default hosts that are still open."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.host: HostContext | None = None
        self.is_of_user = False
        self.all: list[HostContext] = []

    def replace(self, host: HostContext | None) -> None:
        self.host = host
        if host is not None and host not in self.all:
            self.all = [one for one in self.all if not one.is_closed] + [host]


_default = _Default()


def default_host() -> HostContext:
    """Return the default host of this process; create it on first use, with the work queue `mstd`.

    The default host is closed when the interpreter exits.  If it is closed earlier, the next call
    creates another one.
    """
    host = _default.host
    if host is not None and not host.is_closed:
        return host
    with _default.lock:
        if _default.host is None or _default.host.is_closed:
            _default.replace(HostContext())
            _default.is_of_user = False
        assert _default.host is not None
        return _default.host


def set_default_host(host: HostContext | None) -> None:
    """Make `host` the default host.  If it is None, the next use creates a new default host.

    The previous default host stays open.  All former default hosts are closed when the interpreter
    exits.
    """
    is_host = host is None or isinstance(host, HostContext)
    require(is_host, "the default host", "a HostContext or None", host)
    with _default.lock:
        _default.replace(host)
        _default.is_of_user = host is not None


def users_default_host() -> HostContext | None:
    """Return the host that was last passed to `set_default_host`.

    Return None if no host was passed, or if the host is closed.
    """
    with _default.lock:
        host = _default.host if _default.is_of_user else None
        return None if host is None or host.is_closed else host


@atexit.register
def _close() -> None:
    for host in _default.all:
        host.close(HURRY_SECONDS)


def of_future(future: Future) -> AsyncValue:
    """Implement `AsyncValue.from_future`."""
    if not is_future(future):
        raise TypeError(f"expected a future, found {type(future).__name__}")
    made = from_future(default_host().work_queue, future)
    # A callback must not keep the promise `made` alive.
    came = made.reference()

    def cancel() -> None:
        if came.cancelled():
            future.cancel()

    made.and_then(cancel)
    return made


HOOKS.of_future = of_future


class Returning(ABC):
    """The base class of executions.

    `gather` replaces an execution with its return value.
    """

    @abstractmethod
    def as_value(self) -> AsyncValue:
        """Return an AsyncValue that becomes the execution's return value."""


def unavailable() -> AsyncValue:
    """Return a value that the caller must resolve with `set_result` or `set_exception`.

    If the last reference to this object is dropped before that, the value becomes an error that
    says so.
    """
    place = place_of_caller()
    return make_unavailable(
        default_host().work_queue,
        on_broken=lambda: error("the value created here was dropped unresolved", place),
    )


def gather(*values: object) -> AsyncValue:
    """Return one AsyncValue that becomes the tuple of all `values`, in order.

    As soon as one of the values becomes an error, the result becomes that error; of errors that are
    known already, it is the first in the tuple's order.  Futures are awaited.  An execution is
    replaced with its result, or with the tuple of its results.  All other objects are used
    unchanged.

    Raises:
        TfrtError: if the values are passed in a list.
    """
    for given in values:
        is_list = isinstance(given, list | tuple | set) and any(
            isinstance(one, AsyncValue | Returning) or is_future(one) for one in given
        )
        require(not is_list, "what is gathered", "values, as in gather(*values)", given)
    awaited = [_value_of(value) for value in values]
    open_values = [value for value in awaited if isinstance(value, AsyncValue)]
    queue = open_values[0].queue if open_values else default_host().work_queue
    if not open_values:
        return make_available(queue, tuple(awaited))
    made = make_unavailable(queue)
    made.basis = [weakref.ref(value) for value in open_values]
    held = [v.for_waiter() if isinstance(v, AsyncValue) else v for v in awaited]
    left = len(open_values)
    lock = threading.RLock()

    def arrived(value: AsyncValue) -> None:
        nonlocal left
        with lock:
            left -= 1
            is_last = left == 0
            if is_last:
                made.basis = ()
        # Do this without the lock, because resolving `made` calls users' callbacks.
        with contextlib.suppress(RuntimeError):  # made is already resolved
            if value.state is State.ERROR:
                made.follow(value)
            elif is_last and not made.done():
                made.emplace(tuple(v.result(0) if isinstance(v, AsyncValue) else v for v in held))

    for value in open_values:
        value.add_done_callback(arrived)
    return made


def _value_of(given: object) -> object:
    """Return the value to gather for a value, a future, a run, or another object."""
    if isinstance(given, Returning):
        return given.as_value()
    return of_future(given) if is_future(given) else given
