"""Tensors in the host's memory.

This package builds on `host`'s objects and allocators.  Read the modules in this order: `shapes`
(with the element types), `dense` (rows of elements in memory), `sparse`, and `returned` (the count
of arrays that kernels return).
"""
