"""Futures of Python's libraries as AsyncValues."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TypeGuard

from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.host.failures import cancellation, diagnostic_of
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.values.async_value import AsyncValue, Future, make_unavailable
from tfrt_runtime.host.values.fitting import misfit

Refuse = Callable[[str], Diagnostic]
"""The function that creates the error for a value of another type."""
OBJECT = "!tfrt.object"
"""The type of any Python object."""


def is_on_queue(queue: WorkQueue, value: AsyncValue, type_text: str) -> bool:
    """Tell whether native code of the queue may take the value as one of this type.

    Native code interprets the bits of a number as the program's type, without a check.
    """
    if value.queue is not queue:
        return False
    if type_text in SCALAR_TYPES:
        return value.has_type(type_text)
    return (
        value.type not in ("", *SCALAR_TYPES)
        or (value.done() and value.type != "")
        or type_text in ("", OBJECT)
    )


def on_queue(
    queue: WorkQueue,
    value: AsyncValue,
    type_text: str,
    refuse: Callable[[str], Diagnostic] = error,
) -> AsyncValue:
    """Return `value`, or, if it is of another host or type, a value of `queue` that follows it.

    `refuse` makes the error for a value whose type turns out to be another one.
    """
    if is_on_queue(queue, value, type_text):
        return value
    brought = make_unavailable(queue, type_text)
    came = value.for_waiter()  # `value` itself may be a promise, which must not be kept alive

    def resolve() -> None:
        problem = came.exception(0)
        if problem is not None:
            brought.set_error(problem.diagnostics[0])
            return
        payload = came.payload()
        try:
            brought.emplace(payload)
        except PayloadError as wrong:
            brought.set_error(refuse(misfit(type_text, payload, wrong)))

    value.and_then(resolve)
    if value.queue is not queue:
        value.have_made()
    return brought


def is_future(value: object) -> TypeGuard[Future]:
    """Tell whether `from_future` accepts the object."""
    return any(_is_from(one, value) for one in ("asyncio", "concurrent.futures", "distributed"))


def is_awaited(value: object, type_text: str) -> TypeGuard[Future]:
    """Tell whether a kernel that returns the future `value` for that type means the future's
    result.

    A result of type object is the future itself.
    """
    return type_text not in ("", "object", OBJECT) and is_future(value)


def _is_from(module: str, value: object) -> bool:
    # They take 20 ms to import; the module of a given future is imported already.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, loaded.Future)


def from_future(
    queue: WorkQueue,
    future: Future,
    type_text: str = "",
    refuse: Refuse = error,
    fail: Callable[[BaseException], Diagnostic] = diagnostic_of,
    fetch: Callable[[Future], object] = lambda done: done.result(),
) -> AsyncValue:
    """Return a value that is resolved when the future is done; the future's exception is its error.

    `refuse` makes the error for a result of another type, and `fail` the error for an exception of
    the future; `fetch` converts its result. Any thread may call this, even for a future of an event
    loop.
    """
    value = make_unavailable(
        queue, type_text, lambda: refuse("the future was dropped before it was done")
    )

    def resolve(done: Future) -> None:
        with contextlib.suppress(RuntimeError):  # the value was cancelled meanwhile
            if done.cancelled():
                value.set_error(cancellation("the future was cancelled"))
            elif (problem := done.exception()) is not None:
                value.set_error(fail(problem))
            else:
                result = fetch(done)
                try:
                    value.emplace(result)
                except PayloadError as wrong:
                    value.set_error(refuse(misfit(type_text, result, wrong)))

    if future.done():
        resolve(future)
    elif _is_from("asyncio", future):
        loop = future.get_loop()  # type: ignore[union-attr]
        if loop.is_running():
            loop.call_soon_threadsafe(future.add_done_callback, resolve)
        else:
            value.set_error(refuse("a future is never done if its event loop is not running"))
    else:
        future.add_done_callback(resolve)
    return value
