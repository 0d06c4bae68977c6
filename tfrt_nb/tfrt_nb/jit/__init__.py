"""Async programs as machine code: LLVM IR with coroutine intrinsics, compiled by LLVM in this process.

Read in this order: `llvm_types`, `places` (operations as debug information),
`function_body` (the text of one function), then what lowers which
operations (`arithmetic`, `buffers`, `control`, `async_runtime`, `externals`), `coroutines` (modules), `linking`,
`compiler`, `stages` (all of it in one call).  `adapters` are the ways into the code for kernels of host
programs.
"""
