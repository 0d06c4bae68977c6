"""Kernels that a user writes in Python.

`user` (`@kernel`), `parameters` (what a kernel's function takes), `annotations` and `signatures`
(the types that annotations and signatures state), `outcomes` (how returned values and exceptions
become results), `retries`, `policies`, `event_loop`, `stepped_loop`, `remote`, `sent`, and
`stories` (attempts, time limits, coroutines, clusters), `numba_kernels` (native kernels),
`numba_checks` (of their numbers), and `prints` (text that kernels print).
"""
