"""Compiled async programs on a host's threads: what the native functions of their ABI need of
Python.

The functions themselves are native (`native.async_abi`).  Stands on `host` and `kernels`.

- The front door is `runtime`, which answers the events of compiled code, and is what a run sees of
  its code; `connection` lets each find the other.
- Objects: `objects` describes tokens, values and groups, and reads what compiled code says of its
  operations.
- Runs: `runs` knows which are cancelled and where each prints, `starvation` ends what a program
  waits for in vain, `signals` lets loops see Ctrl-C.
- Calls: `printing` has the functions by which programs print, `externals` those that Python
  registers, `buffers` lends tensors to compiled code.
"""

from tfrt_runtime.async_runtime.connection import kernel_functions
from tfrt_runtime.async_runtime.objects import LiveObject
from tfrt_runtime.async_runtime.runtime import AsyncRuntime

__all__ = ["AsyncRuntime", "LiveObject", "kernel_functions"]
