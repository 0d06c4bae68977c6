"""Compiled async programs on a host's threads: what the native functions of their ABI need of Python.

The functions themselves are native (`native.async_abi`).  Here is what they are given to: `runtime` has
the front door, `objects` describes tokens, values and groups, `records` reads what compiled code says of
its operations, `starvation` notices a program that cannot go on, `runs` knows which runs are cancelled
and where each prints, `code_of_run` is what a run sees of its code, `signals` lets loops see Ctrl-C, `printing` are the functions by which programs
print, `externals` those that Python registers, `kernel_calls` is about calls by host programs, `buffers`
lends tensors to them, `handles` are how buffers are called on both sides.
"""

from tfrt_runtime.async_runtime.objects import LiveObject, Made
from tfrt_runtime.async_runtime.runtime import AsyncRuntime, kernel_functions

__all__ = ["AsyncRuntime", "LiveObject", "Made", "kernel_functions"]
