"""Kernels that call functions of the program from Python."""

from __future__ import annotations

import threading

from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry

REGISTRY = KernelRegistry("functions")

_once = threading.Lock()


@REGISTRY.kernel("tfrt.once", frame=True, raw=True)
def once(frame: KernelFrame, *arguments: AsyncValue) -> tuple[AsyncValue, ...]:
    """Call the function once per run: later calls have the results of the first."""
    key = f"tfrt.once @{frame.functions[0].name}"
    with _once:  # two first calls on two threads must be one
        results: list[AsyncValue] | None = frame.resources.get(key, list)
        if results is None:
            results = frame.resources.create(key, frame.functions[0].execute(arguments))
    return tuple(results)
