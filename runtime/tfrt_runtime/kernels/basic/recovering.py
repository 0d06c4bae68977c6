"""Kernels that run although an argument is an error: they give something else instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry, Parameters, PythonKernel

REGISTRY = KernelRegistry("recovering")


def _lazy(name: str, *parameters: str) -> Callable[[Callable[..., object]], None]:
    """Register a kernel that awaits none of its arguments and takes the frame."""
    anything = (object,) * len(parameters)
    lazy = frozenset(range(len(parameters)))
    known = Parameters(parameters, anything, object, inspect.Parameter.empty, lazy)
    count = len(parameters)

    def register(function: Callable[..., object]) -> None:
        REGISTRY.add(
            PythonKernel(name, function, frame=True, needs=count, takes=count, parameters=known)
        )

    return register


@_lazy("tfrt.recover", "value", "replacement")
def recover(frame: KernelFrame, value: AsyncValue, replacement: AsyncValue) -> AsyncValue:
    """`value`, or `replacement` if `value` is an error.  Only what is taken is waited for."""
    return _decided(frame, value, lambda made: made.follow(replacement))


@_lazy("tfrt.kept", "value")
def kept(frame: KernelFrame, value: AsyncValue) -> AsyncValue:
    """`value` as an object, or the exception that its `result` would raise."""

    def keep(made: AsyncValue) -> None:
        made.emplace(value.exception(0))

    return _decided(frame, value, keep)


def _decided(
    frame: KernelFrame, value: AsyncValue, otherwise: Callable[[AsyncValue], None]
) -> AsyncValue:
    """A result that becomes `value`, or what `otherwise` makes of it if `value` is an error."""
    made = frame.allocate()

    def decide() -> None:
        if value.state is not State.ERROR:
            made.follow(value)
        elif not made.done():  # else the run is cancelled
            otherwise(made)

    value.and_then(decide)
    return made
