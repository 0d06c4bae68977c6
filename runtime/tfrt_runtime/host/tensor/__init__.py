"""Tensors in the host's memory.

This package builds on the objects and allocators in `host`.  Read the modules in this order:
`shapes` (with the element types), `dense` (rows of elements in memory), `sparse`, and `returned`
(which counts the arrays that kernels return).
"""
