"""The modules of the native core, and the functions that they export."""

import importlib
import pkgutil
from collections.abc import Callable

from tfrt_runtime.native import memory

MODULES = (
    "cells",
    "async_value",
    "events",
    "queues.tasks",
    "queues.waiters",
    "calls.decoding",
    "calls.delivery",
    "calls.activation",
    "calls.kernel_calls",
    "queues.sharing",
    "calls.in_order",
    "calls.machine_calls",
    "calls.hot_calls",
    "calls.executor",
    "tensors",
    "handles",
    "python.python_entries",
    "python.python_calls",
    "python.python_shortcuts",
    "python.python_functions",
    "python.python_runs",
    "python.python_waits",
    "coroutines.async_objects",
    "coroutines.async_awaiting",
    "coroutines.async_interrupts",
    "coroutines.async_buffers",
    "coroutines.async_abi",
)

PACKAGE = "tfrt_runtime.native"


def exports() -> dict[str, memory.Export]:
    """Return the functions that other compiled code calls, keyed by C name.

    Call `load` first: importing the modules registers the functions.
    """
    return memory.EXPORTS


def load() -> dict[str, Callable[..., object]]:
    """Import every module of the core; return its entries, the functions that Python calls.

    The keys are the exported names: `module.function`, without packages.
    """
    kernels = importlib.import_module(f"{PACKAGE}.kernels")
    found = [f"kernels.{one.name}" for one in pkgutil.iter_modules(kernels.__path__)]
    for module in (*MODULES, *found):
        importlib.import_module(f"{PACKAGE}.{module}")
    return {".".join(name.split(".")[-2:]): one for name, one in memory.ENTRIES.items()}
