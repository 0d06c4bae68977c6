"""Lower operations to LLVM IR.

The modules are `arithmetic`, `control`, and `async_runtime`; `descriptors` and `buffers` lower
operations on buffers.
"""
