"""Starting a function of a loaded program from Python."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.process import native_process


def start_call(
    request: Request,
    function: int,
    arguments: Sequence[AsyncValue],
    result_types: Sequence[str],
    *,
    is_task: bool = False,
) -> list[AsyncValue]:
    """Start the function at address `function`; its results, perhaps unavailable.

    One of the request's active counts becomes the call's.  Kernels become ready on this thread, or
    with `is_task` on the thread that takes the call from the queue.
    """
    queue, given = request.queue, len(arguments)
    values = _words(given + len(result_types) + 1)()
    for i, value in enumerate(arguments):
        values[i] = value.address
    process = native_process()
    start = (process.quick if is_task else process.slow)("executor.start_call", 5)
    start(queue.context(), function, request.address, ctypes.addressof(values), is_task)
    return [AsyncValue(queue, values[given + i], text) for i, text in enumerate(result_types)]


@functools.cache
def _words(count: int) -> type[ctypes.Array[ctypes.c_int64]]:
    return ctypes.c_int64 * count
