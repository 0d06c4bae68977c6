"""Kernels by name: the registry, the standard kernels, and kernels that a user writes in Python.

Builds on `host`.  Read in this order:

- Basics: `registry`, `calls` (the calls around a failed kernel), and `frame` (a kernel's view of
  its call).
- Users' kernels: `users`.
- Standard kernels, listed by `standard`: the subfolders `basic` and `tensor`.
"""
