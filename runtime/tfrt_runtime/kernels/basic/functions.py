"""Kernels that call functions of the program from Python."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable

from tfrt_runtime.host.failures import in_element
from tfrt_runtime.host.payload import PayloadError, as_python
from tfrt_runtime.host.values.async_value import AsyncValue, State, make_available, when_all
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry

REGISTRY = KernelRegistry("functions")

_once = threading.RLock()


@REGISTRY.kernel("tfrt.once", frame=True, raw=True)
def once(frame: KernelFrame, *arguments: AsyncValue) -> AsyncValue | tuple[AsyncValue, ...]:
    """Call the function once per run: later calls have the results of the first."""
    key = f"tfrt.once @{frame.functions[0].name}"
    with _once:  # two first calls on two threads must be one
        results: list[AsyncValue] | None = frame.resources.get(key, list)
        if results is None:
            results = frame.resources.create(key, frame.functions[0].execute(arguments))
    return results[0] if len(results) == 1 else tuple(results)


@REGISTRY.kernel("tfrt.captured", attributes=("i64",), frame=True)
def captured(frame: KernelFrame, slot: int) -> object:
    """The Python object that a traced function captured: it is the program's, not in its text."""
    held = getattr(frame.request.program, "captured", ())
    if not 0 <= slot < len(held):
        raise KernelError(
            "the object that was captured here is in the Python program that was traced,"
            " and not in its text or file: pass it as an argument"
        )
    found: object = held[slot]
    return found


@REGISTRY.kernel("tfrt.value")
def value(item: object) -> object:
    """An object as the value that it is: the type of the result says which one it must be."""
    return item


@REGISTRY.kernel("tfrt.list")
def list_of(*items: object) -> list[object]:
    """The values in a list, as users see them."""
    return list(map(as_python, items))


@REGISTRY.kernel("tfrt.tuple")
def tuple_of(*items: object) -> tuple[object, ...]:
    """The values in a tuple, as users see them."""
    return tuple(map(as_python, items))


@REGISTRY.kernel("tfrt.dict")
def dict_of(*pairs: object) -> dict[object, object]:
    """The values in a dictionary, as users see them: key, value, key, value."""
    items = list(map(as_python, pairs))
    return dict(zip(items[::2], items[1::2], strict=True))


@REGISTRY.kernel("tfrt.map", raw=True, frame=True)
def map_values(frame: KernelFrame, values: AsyncValue, *captures: AsyncValue) -> AsyncValue:
    """A list of what the function gives for each item, in their order; the first error wins.

    A second result of the function is a chain: the list is there when the effects have happened, too.
    """
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
    calls = [function.execute([item, *captures]) for item in given]
    results = [value for call in calls for value in call]

    def finish() -> None:
        failed = next((i for i, one in enumerate(results) if one.state is State.ERROR), None)
        with contextlib.suppress(RuntimeError):  # a cancellation has decided it
            if failed is not None and (problem := results[failed].exception(0)) is not None:
                index = failed // len(calls[0])
                made.set_error(in_element(problem.diagnostics[0], index, len(calls)))
            else:
                made.emplace([call[0].result(0) for call in calls])

    when_all(results, finish)
    return made
