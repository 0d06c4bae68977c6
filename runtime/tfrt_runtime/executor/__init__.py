"""Execute BEF: a file is decoded once, into native memory, and can then run any number of times.

It builds on `kernels`, `host`, and `native`.

- Loading: `program` loads a file against a registry of kernels, using the subfolder `loading`.
  Scalar functions that become hot are compiled to machine code (`machine`).
- Running: `calls` has the functions that Python calls, the conversion of their arguments, and the
  reasons why a run is stuck; `starting` starts a run from Python, and runs functions that kernels
  enqueue; `run_waits` has waits for a run, its progress, and its results as they arrive;
  `execution` is one run, and `batch` is a run of many calls; `tracing` reports activities; `driver`
  runs a whole file.
"""
