"""Kernels that users write in Python.

- `user`: the decorator `@kernel`.  `parameters`: what a kernel's function takes.
- `annotations` and `signatures`: the types in annotations and signatures.
- `outcomes`: how returned values and exceptions become results.
- `retries`, `policies`: attempts and time limits.
- `event_loop`, `stepped_loop`: coroutines.
- `remote`, `sent`: clusters.  `stories`: what happened to a call.
- `numba_kernels`: native kernels.  `numba_checks`: checks of their numbers.
- `prints`: text that kernels print.
"""
