"""What lowers which operations to LLVM IR.

`arithmetic`, `mathematics`, `control`, `async_runtime`, `externals`, `printing`; of buffers `descriptors`, `buffers`,
`views`, `unranked`.
"""
