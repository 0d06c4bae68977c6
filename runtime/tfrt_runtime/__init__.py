"""The runtime: BEF in, AsyncValues out.  Knows neither MLIR nor notebooks.

Read from below: `hooks` (functions that higher packages give to lower ones), `diagnostics` (source
locations, errors that carry one, and the user's line in Python), `cache` (compiled code in files),
`once` (one object per process), `texts` (texts of users' objects, in bounded time), `bef` (the
format), `scalars` and `native_table` (the tables of scalar operations and of other native kernels),
`native` (the core), `host` (the core as Python objects), `kernels` (functions by name), then
execution: `executor` for host programs, `async_runtime` for compiled ones.
"""
