"""Compiled async programs on a host's threads: what the native functions of their ABI need of Python.

The functions themselves are native (`native.async_abi`).  Stands on `host` and `kernels`.

- The front door is `runtime`, which answers the events of compiled code; `connection` lets each find the other.
- Objects: `objects` describes tokens, values and groups, `records` reads what compiled code says of its
  operations.
- Runs: `runs` knows which are cancelled and where each prints, `code_of_run` is what a run sees of its code,
  `starvation` ends what a program waits for in vain, `signals` lets loops see Ctrl-C.
- Calls: `printing` has the functions by which programs print (`printed_buffers` those for buffers),
  `externals` those that Python registers, `kernel_calls` is about calls by host programs.
- Memory: `buffers` lends tensors to compiled code, `handles` are how both sides name a buffer.
"""

from tfrt_runtime.async_runtime.connection import kernel_functions
from tfrt_runtime.async_runtime.objects import LiveObject
from tfrt_runtime.async_runtime.runtime import AsyncRuntime

__all__ = ["AsyncRuntime", "LiveObject", "kernel_functions"]
