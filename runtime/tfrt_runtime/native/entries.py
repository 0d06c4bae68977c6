"""The modules of the native core, and what they export."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from tfrt_runtime.native import memory

MODULES = (
    "budget",
    "cells",
    "async_value",
    "events",
    "tasks",
    "ready",
    "waiters",
    "delivery",
    "activation",
    "endings",
    "kernel_calls",
    "sharing",
    "starting",
    "executor",
    "scalar_kernels",
    "tensors",
    "tensor_kernels",
    "user_kernels",
    "python_functions",
    "tensor_products",
    "control_kernels",
    "sync_interpreter",
    "async_kernels",
    "sleeping_kernels",
    "benchmark_kernel",
    "handles",
    "python_calls",
    "async_objects",
    "async_groups",
    "async_awaiting",
    "async_interrupts",
    "async_buffers",
    "async_abi",
    "compiled_kernels",
    "outside_queues",
)

PACKAGE = "tfrt_runtime.native"


def exports() -> dict[str, memory.Export]:
    """The functions that other compiled code calls, by C name; after `load`."""
    return memory.EXPORTS


def load() -> dict[str, Callable[..., object]]:
    """Import every module of the core; its entries by the name that they are exported under.

    The name is `module.function`, without the package.
    """
    for module in MODULES:
        importlib.import_module(f"{PACKAGE}.{module}")
    return {name.removeprefix(f"{PACKAGE}."): function for name, function in memory.ENTRIES.items()}
