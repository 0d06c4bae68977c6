"""Kernels by name: the registry, the standard kernels, and those that a user writes in Python.

Builds on `host`.  Read in this order:

- Basics: `registry`, `frame` (a kernel's view of its call).
- Kernels of users: `users`.
- Standard kernels, listed by `standard`: subfolders `basic` and `tensor`.
"""
