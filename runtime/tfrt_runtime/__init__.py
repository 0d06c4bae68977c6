"""The runtime: BEF in, AsyncValues out.  Knows neither MLIR nor notebooks.

Read from below: `hooks` (what higher floors give to lower ones), `diagnostics` (a place in a
source, errors that carry one, and the user's line in Python), `cache` (compiled code in files),
`once` (what a process has one of), `texts` (texts of users' objects, in bounded time), `bef` (the
format), `scalars` and `native_table` (the tables of scalar operations and of other native kernels),
`native` (the core), `host` (the core as Python objects), `kernels` (functions by name), then what
runs: `executor` for host programs, `async_runtime` for compiled ones.
"""
