"""Execution of BEF: a file is decoded once, into native memory, and then run any number of times.

Builds on `kernels`, `host`, and `native`.

- Loading: `program` loads a file against a registry of kernels, with the subfolder `loading`.  Hot
  scalar functions become machine code: `machine`.
- Running: `calls` has the functions that Python calls, the use of their arguments, and the reasons
  why a run is stuck; `starting` leads from Python into a run, and runs functions that kernels
  enqueue; `run_waits` has waits for a run, its progress, and its results as they arrive;
  `execution` is one run, and `batch` a run of many calls; `tracing` reports activities; `driver`
  runs a whole file.
"""
