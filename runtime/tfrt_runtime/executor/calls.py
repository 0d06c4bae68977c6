"""Starting a function of a loaded program from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.raw import WORDS

_no_words = (ctypes.c_int64 * 1)()


def start_call(
    request: Request,
    function: int,
    arguments: Sequence[AsyncValue],
    result_types: Sequence[str],
) -> list[AsyncValue]:
    """Start the function at address `function`; its results, perhaps unavailable.

    One of the request's active counts becomes the call's.  Kernels become ready on this thread.
    """
    process, queue = native_process(), request.queue
    context = queue.context()
    make = process.quick("handles.value_make_indirect", 1)
    share = process.quick("handles.value_add_reference", 1)
    results = [AsyncValue(queue, make(context), text) for text in result_types]
    words = _no_words
    if arguments:
        words = (ctypes.c_int64 * len(arguments))(*(value.address for value in arguments))
    for value in (*arguments, *results):
        share(value.address)
    table = process.quick("handles.block_take", 2)(context, 8 * len(results) + 8)
    for i, value in enumerate(results):
        WORDS[(table >> 3) + i] = value.address
    start = process.slow("executor.start_root", 5)
    start(context, function, request.address, ctypes.addressof(words), table)
    return results
