"""Tensors in the host's memory.

Stands on `host`'s objects and allocators.  Read `element_types` (what an element is), `shapes`, `handles`
(tensors of the native core), `buffers` (reference-counted memory), then `dense` (rows of elements over a
buffer), `strings` and `sparse`.  `btf` reads tensors from files, `btf_writer` writes them, `text` says how elements are printed,
`buffer_types` which tensor a buffer type of compiled code takes.
"""
