"""Kernels that users write in Python.

- `user`: the decorator `@kernel`
- `parameters`: the parameters of a kernel's function
- `annotations` and `signatures`: the types in annotations and signatures
- `outcomes`: how returned values and exceptions become results
- `retries` and `policies`: attempts and time limits
- `event_loop` and `stepped_loop`: coroutines
- `remote`, `sent`, and `stories`: kernels on a cluster, large values there, and call histories
- `numba_kernels` and `numba_checks`: native kernels, and checks of their numbers
- `prints`: text that kernels print
"""
