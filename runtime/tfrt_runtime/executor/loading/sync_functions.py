"""Sync functions: which functions are sync, and which kernels they may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tfrt_runtime.bef.records import BefFunction, FunctionKind
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, PythonKernel

CONTROL = frozenset(
    f"control_kernels.{name}" for name in ("call", "cond", "case", "repeat", "while_loop")
)
"""Control kernels that wait for the functions that they call."""


def runs_in_sync(kernel: Kernel) -> bool:
    """Return whether a kernel may be in a sync function.

    An ordinary Python function may, because its results are available when it returns.
    """
    if isinstance(kernel, ControlKernel):
        return kernel.symbol in CONTROL
    if isinstance(kernel, PythonKernel):
        return kernel.sync or not (kernel.raw or kernel.blocking or kernel.has_lazy)
    return kernel.sync


def with_sync_regions(functions: Sequence[BefFunction]) -> tuple[BefFunction, ...]:
    """Return the same functions, but make the regions in sync functions sync.

    Files do not say that they are.
    """
    marked = list(functions)
    pending = [function for function in functions if function.kind is FunctionKind.SYNC]
    while pending:
        for kernel in pending.pop().kernels:
            for index in kernel.functions:
                region = marked[index]
                if region.name == "" and region.kind is FunctionKind.ASYNC:
                    marked[index] = replace(region, kind=FunctionKind.SYNC)
                    pending.append(region)
    return tuple(marked)
