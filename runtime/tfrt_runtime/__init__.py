"""The runtime: BEF in, AsyncValues out.  Knows neither MLIR nor notebooks.

Read from the bottom up: `hooks` (functions that higher packages install for lower ones),
`diagnostics` (source locations, errors that carry a location, and the user's line in Python),
`cache` (compiled code in files), `once` (one object per process), `texts` (text of users' objects,
in bounded time), `bef` (the format), `scalars` and `native_table` (the tables of scalar operations
and of the other native kernels), `native` (the core), `host` (the core as Python objects),
`kernels` (functions by name), then execution: `executor` for host programs, `async_runtime` for
compiled ones.
"""
