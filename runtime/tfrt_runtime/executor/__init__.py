"""Running BEF: a file is decoded once, to native memory, and then run any number of times.

Builds on `kernels`, `host`, and `native`.

- `program` loads a file against a registry of kernels: room `loading`.  Hot functions of scalars
  become machine code: `machine`.
- Running: `calls` has functions as Python calls them, says how they use their arguments, and why
  one cannot go on; `starting` is the way from Python into a run, `run_waits` what a thread does
  that waits for one, with its progress and its results as they come; `execution` is one run,
  `batch` one of many calls, `tracing` reports what ran, `work` runs functions that kernels leave to
  others; `driver` runs a whole file.
"""
