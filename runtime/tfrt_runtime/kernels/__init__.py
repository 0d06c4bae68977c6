"""Kernels by name: the registry, the standard kernels, and those that a user writes in Python.

Builds on `host`.  Read in this order:

- What a kernel is: `registry`, `frame` (what one sees of its call).
- Kernels of users: `users`.
- Standard kernels, listed by `standard`: rooms `basic` and `tensor`.
"""
