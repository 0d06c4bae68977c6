"""What lowers which operations to LLVM IR: `arithmetic`, `control`, `async_runtime`; of buffers
`descriptors`, `buffers`.
"""
