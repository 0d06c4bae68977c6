"""Futures of Python's libraries as AsyncValues."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from tfrt_runtime.diagnostics import error
from tfrt_runtime.host.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.payload import PayloadError
from tfrt_runtime.host.work_queue import WorkQueue

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

    Future = concurrent.futures.Future[Any] | asyncio.Future[Any]


def is_future(value: object) -> TypeGuard[Future]:
    """Whether `from_future` takes it."""
    return _is_from("asyncio", value) or _is_from("concurrent.futures", value)


def _is_from(module: str, value: object) -> bool:
    # They take 20 ms to import; whoever has a future has imported its module.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, loaded.Future)


def from_future(queue: WorkQueue, future: Future, type_text: str = "") -> AsyncValue:
    """A value that is there when the future is done; what the future raises is its error.

    None is a chain.  Any thread may call, also for a future of an event loop.
    """
    value = make_unavailable(queue, type_text)

    def resolve(done: Future) -> None:
        if done.cancelled():
            value.set_error(error("the future was cancelled"))
            return
        problem = done.exception()
        if problem is not None:
            value.set_error(error(f"{type(problem).__name__}: {problem}"))
            return
        result = done.result()
        try:
            value.emplace(CHAIN if result is None else result)
        except PayloadError as wrong:
            value.set_error(error(str(wrong)))

    if _is_from("asyncio", future):
        loop = future.get_loop()  # type: ignore[union-attr]
        loop.call_soon_threadsafe(future.add_done_callback, resolve)
    else:
        future.add_done_callback(resolve)
    return value
