"""From a program's text to its results: dialects, passes, BEF, compilation, the command line.

Nothing here knows notebooks.  `%load_ext tfrt_nb` is the one step up the stairs, and it is taken by
name, so that importing this package loads no IPython.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrt_nb.program import Program as Program
    from tfrt_runtime.diagnostics import TfrtError as TfrtError
    from tfrt_runtime.host.async_value import AsyncValue as AsyncValue
    from tfrt_runtime.host.chain import CHAIN as CHAIN
    from tfrt_runtime.host.context import HostContext as HostContext
    from tfrt_runtime.kernels.frame import KernelFrame as KernelFrame
    from tfrt_runtime.kernels.registry import KernelError as KernelError
    from tfrt_runtime.kernels.registry import KernelRegistry as KernelRegistry
    from tfrt_runtime.kernels.user import kernel as kernel

_HOMES = {
    "AsyncValue": "tfrt_runtime.host.async_value",
    "CHAIN": "tfrt_runtime.host.chain",
    "HostContext": "tfrt_runtime.host.context",
    "KernelError": "tfrt_runtime.kernels.registry",
    "KernelFrame": "tfrt_runtime.kernels.frame",
    "KernelRegistry": "tfrt_runtime.kernels.registry",
    "Program": "tfrt_nb.program",
    "TfrtError": "tfrt_runtime.diagnostics",
    "kernel": "tfrt_runtime.kernels.user",
}

__all__ = [
    "CHAIN",
    "AsyncValue",
    "HostContext",
    "KernelError",
    "KernelFrame",
    "KernelRegistry",
    "Program",
    "TfrtError",
    "kernel",
    "load_ipython_extension",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> object:
    """The public names, imported when they are first used: the package itself stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tfrt_nb' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def load_ipython_extension(shell: object) -> None:
    """Register `%%tfrt` and its companions in `shell`, as `%load_ext tfrt_nb` asks."""
    import_module("tfrt_magics.extension").load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop every run and take the magics out of `shell`, as `%unload_ext tfrt_nb` asks."""
    import_module("tfrt_magics.extension").unload_ipython_extension(shell)
