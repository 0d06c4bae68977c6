"""Execute BEF: a file is loaded into native memory once, and can then run any number of times.

This package builds on `kernels`, `host`, and `native`.

- Loading: `program` loads a file, with the package `loading`, and finds the file's kernels in a
  registry.  `machine` compiles scalar functions that are executed often to machine code.
- Calling: `calls` contains the functions that Python can call, converts their arguments, and
  explains why a run is stuck.
- Running: `starting` starts a run from Python, and runs functions that kernels enqueue.
  `run_waits` waits for a run, and reports the run's progress and results.  `execution` is one run,
  and `batch` is a run of many calls.
- Others: `tracing` reports activities.  `driver` runs a whole file.
"""
