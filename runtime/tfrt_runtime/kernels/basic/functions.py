"""Kernels that call functions of the program from Python."""

from __future__ import annotations

import threading

from tfrt_runtime.host.payload import as_python
from tfrt_runtime.host.values.async_value import AsyncValue
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
