"""Tensors in the host's memory.

Builds on `host`'s objects and allocators.  Read `shapes` (and types of elements), then `dense`
(rows of elements over memory), `sparse`, and `returned` (arrays of kernels in the budget).
"""
