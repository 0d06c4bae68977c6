"""Tensors in the host's memory.

This folder builds on `host`'s objects and allocators.  Read `shapes` (with the element types), then
`dense` (rows of elements over memory), `sparse`, and `returned` (counts arrays that kernels return
toward the budget).
"""
