"""`tfrt.map`: a function of the program for each item of a list whose length is known when it
runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from tfrt_runtime.host.failures import in_element
from tfrt_runtime.host.payload import PayloadError, as_python
from tfrt_runtime.host.structs import Context
from tfrt_runtime.host.values.async_value import AsyncValue, make_available, when_all
from tfrt_runtime.host.values.at_once import AtOnce
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Keyword, PythonKernel

REGISTRY = KernelRegistry("mapping")


def map_values(frame: KernelFrame, values: AsyncValue, *others: Any) -> AsyncValue:
    """A list of what the function gives for each item, in their order; the first error wins.

    A second result of the function is a chain: the list is there when the effects have happened,
    too. The last argument is the attribute `at_once`: how many calls are in flight, 0 for all.
    """
    *captures, at_once = others
    items = values.result(0)
    if not isinstance(items, Iterable):
        raise KernelError(f"tfrt.map takes a list, found {type(items).__name__}")
    function, queue = frame.functions[0], frame.request.queue
    word = function.argument_types[0]
    try:
        given = [make_available(queue, item, word) for item in items]
    except PayloadError as wrong:
        raise KernelError(f"an item of tfrt.map: {wrong}") from None
    made = frame.allocate(0)
    begun = min(len(given), at_once) if at_once > 0 else len(given)
    calls = [function.execute([item, *captures]) for item in given[:begun]]

    def start(first: int, count: int) -> list[AsyncValue]:
        if not made.done():  # else the run is cancelled
            own = Context.at(queue.context())
            kept = own.request, own.record  # of the kernel whose result ends a call
            calls.append(function.execute([given[first], *captures]))
            own.request, own.record = kept
            queue.hand_over()
        return [] if made.done() else calls[first]

    def end() -> None:
        # A worker runs what is ready newest first: the oldest call is the last to end, and often
        # the only one that is waited for.
        when_all([value for call in reversed(calls) for value in call], finish)

    def finish() -> None:
        found: list[object] = []
        with contextlib.suppress(RuntimeError):  # a cancellation has decided it
            for index, call in enumerate(calls):
                for value in call:
                    if value.state is State.ERROR and (failed := value.exception(0)) is not None:
                        made.set_error(in_element(failed.diagnostics[0], index, len(calls)))
                        return
                found.append(as_python(call[0].payload()))
            made.emplace(found)

    if begun == len(given):
        end()
        return made
    following = AtOnce(begun, len(given), start, end=end)
    for call in calls[:begun]:
        following.follow(call)
    return made


REGISTRY.add(
    PythonKernel(
        "tfrt.map",
        map_values,
        raw=True,
        frame=True,
        needs=1,
        keywords=(Keyword("at_once", int, 0),),
    )
)
