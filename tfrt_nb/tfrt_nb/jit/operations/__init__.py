"""Lower operations to LLVM IR.

The modules are `arithmetic`, `control`, `async_runtime`, and, for buffers, `descriptors` and
`buffers`.
"""
