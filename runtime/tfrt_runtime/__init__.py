"""The runtime: BEF in, AsyncValues out.  Knows neither MLIR nor notebooks.

Read from below: `diagnostics`, `bef` (the format), `native` (the core), `host` (the core as Python
objects), `kernels`, then what runs: `executor` for host programs, `async_runtime` for compiled ones.
"""
