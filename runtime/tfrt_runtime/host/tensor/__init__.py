"""Tensors in the host's memory.

Builds on `host`'s objects and allocators.  Read `element_types` (what an element is), `shapes`,
`buffers` (memory), then `dense` (rows of elements over a buffer), `sparse`, and `returned` (arrays
of kernels in the budget).
"""
