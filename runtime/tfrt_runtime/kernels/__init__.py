"""Kernels by name: the registry, the standard kernels, and those that a user writes in Python.

Read `registry` (what a kernel is) and `frame` (what one sees of its call) first, then `user` (`@kernel`),
`annotations` (what they say about types), `outcomes` (what becomes of what a kernel returns and raises),
`policies`, `event_loop` and `remote` (retries, time limits, coroutines, clusters), and `signatures` and `numba_kernels` (native
ones).  `standard` lists the modules that the standard kernels come from: scalars, effects, functions,
strings, lifetimes, tensors, and those of the CPU backend (`cpu_…`).
"""
