"""Kernels that are coroutines, and the loop that they run on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.fitting import fitting
from tfrt_runtime.host.payload import SCALAR_TYPES, encode_scalar
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.outcomes import failed, items_of, pass_on
from tfrt_runtime.kernels.registry import KernelError

if TYPE_CHECKING:
    import asyncio


def on_event_loop(
    function: Callable[..., Coroutine[object, object, object]], has_frame: bool
) -> Callable[..., object]:
    """A kernel function that starts a coroutine and returns values that it resolves."""

    import asyncio  # takes 20 ms, and few programs have such kernels

    def start(frame: KernelFrame, *values: object) -> AsyncValue | tuple[AsyncValue, ...]:
        task = function(*((frame,) if has_frame else ()), *values)
        results = tuple(frame.allocate(i) for i in range(len(frame.result_types)))
        frame.request.enter()
        asyncio.run_coroutine_threadsafe(finish(frame, task, results), event_loop())
        return results[0] if len(results) == 1 else results

    return start


async def finish(
    frame: KernelFrame,
    task: Coroutine[object, object, object],
    results: tuple[AsyncValue, ...],
) -> None:
    """Await a kernel's coroutine and resolve its results; the run is not over before.

    Never raises: what leaves a task as SystemExit or KeyboardInterrupt ends the loop.
    """
    import asyncio

    request, loop = frame.request, asyncio.get_running_loop()
    this = asyncio.current_task()
    assert this is not None

    def cancel() -> None:
        loop.call_soon_threadsafe(this.cancel)

    request.call_when_cancelled(this, cancel)
    try:
        returned = await task
        items = [
            await item if isinstance(item, AsyncValue) else item
            for item in items_of(returned, len(results))
        ]
        values = [
            item if isinstance(item, KernelError) else checked(result.type, item)
            for result, item in zip(results, items, strict=True)
        ]
        for result, value in zip(results, values, strict=True):
            with contextlib.suppress(RuntimeError):  # a cancellation has decided it
                if isinstance(value, KernelError):
                    result.set_error(failed(request, value, frame.location))
                else:
                    result.emplace(value)
    except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
        if not (request.is_cancelled and isinstance(problem, asyncio.CancelledError)):
            diagnostic = failed(request, problem, frame.location)
            for result in results:
                with contextlib.suppress(RuntimeError):
                    result.set_error(diagnostic)
            pass_on(request, problem, diagnostic)
    finally:
        request.forget_when_cancelled(this)
        request.leave()


def checked(type_text: str, value: object) -> object:
    """`value`, which an AsyncValue of that type takes: no result is set where another one is wrong.

    Raises:
        PayloadError: if the type has no such values.
    """
    if type_text in SCALAR_TYPES:
        encode_scalar(type_text, value)
    return fitting(type_text, value)


_loops: list[asyncio.AbstractEventLoop] = []
_lock = threading.Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """The loop of `async def` kernels, which runs on a thread of its own."""
    import asyncio

    with _lock:
        if not _loops or _loops[0].is_closed():
            _loops[:] = [asyncio.new_event_loop()]
            arguments = (_loops[0],)
            threading.Thread(target=serve, args=arguments, name="event loop", daemon=True).start()
        return _loops[0]


def serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is closed, whatever kernels do to it.

    A kernel may stop it, and what a task or a callback that a kernel has made raises may end it.
    """
    while not loop.is_closed():
        try:
            loop.run_forever()
        except BaseException as problem:  # noqa: BLE001 - others need the loop
            loop.call_exception_handler(
                {"message": "a task or callback of a kernel ended", "exception": problem}
            )
