"""Run compiled async programs on a host's threads.

This package is the Python side.  Compiled code calls native functions
(`native.coroutines.async_abi`), which send events to this package.  The package depends on `host`
and `kernels`.

Compiled code works with three kinds of objects: tokens, values, and groups of them.

- The entry point is `runtime`, which answers compiled code's events.  It builds on `host_runtime`,
  which runs and stops code.
- Objects: `objects` describes tokens, values, and groups, and reads the records in which compiled
  code describes its operations.
- Runs: `runs` knows which runs are cancelled and where each run prints, and lets compiled code and
  runtimes find each other.  `signals` lets loops see Ctrl-C.  `starvation` turns objects that a
  program awaits, but nothing can resolve, into errors.
- Calls: `printing` contains the functions that programs call to print, `externals` contains the
  functions that Python registers, and `buffers` lends tensors to compiled code.
"""

from tfrt_runtime.async_runtime.objects import LiveObject
from tfrt_runtime.async_runtime.runs import kernel_functions
from tfrt_runtime.async_runtime.runtime import AsyncRuntime

__all__ = ["AsyncRuntime", "LiveObject", "kernel_functions"]
