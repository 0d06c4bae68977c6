"""Tensors in the host's memory.

This package builds on `host`'s objects and allocators.  Read in this order: `shapes` (with the
element types), `dense` (rows of elements in memory), `sparse`, and `returned` (counts arrays that
kernels return).
"""
