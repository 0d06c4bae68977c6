"""Lower operations to LLVM IR.

`arithmetic`, `control`, and `async_runtime` each lower a kind of operations. `descriptors` and
`buffers` lower operations on buffers.
"""
