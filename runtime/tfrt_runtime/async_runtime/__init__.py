"""Compiled async programs on a host's threads: the Python side of their native ABI functions.

The functions themselves are native (`native.async_abi`).  Depends on `host` and `kernels`.

- The entry point is `runtime`, which answers the events of compiled code; `host_runtime`, on which
  it builds, runs and ends code.
- Objects: `objects` describes tokens, values, and groups, and reads what compiled code says about
  its operations.
- Runs: `runs` knows which runs are cancelled and where each prints, and lets code and runtime find
  each other, and loops see Ctrl-C; `starvation` ends objects that a program awaits but nothing will
  resolve.
- Calls: `printing` has the functions by which programs print, `externals` those that Python
  registers, `buffers` lends tensors to compiled code.
"""

from tfrt_runtime.async_runtime.objects import LiveObject
from tfrt_runtime.async_runtime.runs import kernel_functions
from tfrt_runtime.async_runtime.runtime import AsyncRuntime

__all__ = ["AsyncRuntime", "LiveObject", "kernel_functions"]
