"""Kernels that a user writes in Python.

`user` (`@kernel`), `annotations` and `signatures` (types), `outcomes` (results and errors),
`retries`, `policies`, `event_loop`, `stepped_loop`, `remote`, `sent`, and `stories` (attempts, time
limits, coroutines, clusters), `numba_kernels` (native kernels), `numba_checks` (of their numbers),
`prints` (output of kernels).
"""
