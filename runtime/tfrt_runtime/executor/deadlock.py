"""Why a run in which nothing happens will never end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, make_error
from tfrt_runtime.host.waiting import rest_of

ON_ITS_LOOP = (
    "this thread waits, and runs the event loop of the host, on which 'async def' kernels wait for their"
    " turn: await the run or its values, or let the host have a loop of its own"
)

_abandoning = threading.RLock()


def find_deadlock(
    request: Request,
    name: str,
    place_of: Callable[[], AnyLocation | None],
    results: Sequence[AsyncValue],
    *,
    blocks: bool,
) -> list[Diagnostic]:
    """What is wrong with a run that cannot go on by itself; nothing if it can, or is over.

    Any thread may ask; with `blocks` it waits, and so does nothing else.  A run that waits for a value from outside the runtime is not stuck: a
    thread that holds one of its values may still resolve it.
    """
    rest = rest_of(request.queue)
    if rest is None:
        return []
    place = place_of()
    if blocks and request.waits_for_this_thread():
        return [error(f"@{name}: {ON_ITS_LOOP}", place)]
    if request.promises_open():
        return []
    # A promise that was kept while we looked at the others has ended the rest, or the run.
    if rest != rest_of(request.queue) or is_over(request, results):
        return []
    text = f"@{name} cannot go on: nothing runs, nothing is queued, and {missing(results)}"
    return [error(text, place, request.promises.left_by_kernels())]


def abandon_values(request: Request, failure: Diagnostic) -> bool:
    """Make the values that kernels of a stuck run have given errors, so that what is left of it can end.

    Whether there were such values.
    """
    failed, queue = make_error(request.queue, failure), request.queue
    is_first = False
    with _abandoning:  # two threads may wait for the run
        for value in request.promises.given_by_kernels():
            if value.done():
                continue
            is_first = True
            native_process().quick.value_add_reference(failed.address)
            native_process().slow.value_break(queue.context(), value.native, failed.address)
    queue.hand_over()
    return is_first


def is_over(request: Request, results: Sequence[AsyncValue]) -> bool:
    """Whether nothing of a run is left, and its results are available."""
    return request.is_leaving and all(value.done() for value in results)


def missing(results: Sequence[AsyncValue]) -> str:
    """Which results are unavailable."""
    numbers = [str(i) for i, value in enumerate(results) if not value.done()]
    if not numbers:
        return "some kernels have not run"
    if len(results) == 1:
        return "its result is unavailable"
    return f"result{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} unavailable"
