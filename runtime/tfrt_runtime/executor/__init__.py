"""Running BEF: a file is decoded once, to native memory, and then run any number of times.

Stands on `kernels`, `host` and `native`.

- Loading: `program` loads a file against a registry of kernels.  `type_check` compares what kernels take with
  what they get, `cycles` refuses waits without end, `decode` lays the file out in an `arena` (`columns` does so for large
  functions), `resolve` makes the record of each kernel, from its `attributes`, for `python_kernels` and
  `native_functions`; `plain_calls` makes closures for plain Python kernels.
- Running: `calls` starts functions from Python, `execution` is one run, `batch` one of many calls, `progress` tells how far it is,
  `deadlock` why it cannot go on, `tracing` reports its events, `activities` what ran, `work` runs functions that kernels leave to
  others, `benchmarks` reads what the benchmark kernel measured; `driver` runs a whole file.
- Sync functions become code for an interpreter: `sync_functions` knows the steps, which are `sync_lowering`
  (with `sync_loops`, on what `sync_code` and `sync_operations` define), `sync_fusion`, `sync_registers` and
  `sync_writer`.
"""
