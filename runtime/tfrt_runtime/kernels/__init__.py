"""Kernels by name: the registry, the standard kernels, and kernels that users write in Python.

This package builds on `host`.  Read in this order:

- Basics: `registry`, `calls` (which calls led to a failed kernel), and `frame` (a kernel's view of
  its call).
- Users' kernels: `users`.
- Standard kernels, listed by `standard`: the packages `basic` and `tensor`.
"""
