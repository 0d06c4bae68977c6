"""Kernels that a user writes in Python.

`user` (`@kernel`), `parameters` (what its function takes), `annotations` and `signatures` (what
they say about types), `outcomes` (what becomes of what a kernel returns and raises), `retries`,
`policies`, `event_loop`, `stepped_loop`, `remote`, `sent`, and `stories` (attempts, time limits,
coroutines, clusters), `numba_kernels` (native ones), `numba_checks` (of their numbers), `prints`
(of text by kernels).
"""
