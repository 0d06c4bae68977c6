"""Futures of Python's libraries as AsyncValues."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any, TypeGuard

from tfrt_runtime.diagnostics import error
from tfrt_runtime.host.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.payload import PayloadError
from tfrt_runtime.host.work_queue import WorkQueue

Future = concurrent.futures.Future[Any] | asyncio.Future[Any]


def is_future(value: object) -> TypeGuard[Future]:
    """Whether `from_future` takes it."""
    return isinstance(value, concurrent.futures.Future | asyncio.Future)


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

    if isinstance(future, asyncio.Future):
        future.get_loop().call_soon_threadsafe(future.add_done_callback, resolve)
    else:
        future.add_done_callback(resolve)
    return value
