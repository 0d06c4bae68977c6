"""The native core as Python objects: values, work queues, allocators, and the contexts of runs.

It builds on `native`.  Read in this order:

- Access: `structs` (memory of the core) and `process` (how Python and the core call each other),
  with the help of `python_interface` (the functions of the core and of CPython), `payload` (Python
  objects in native memory), and `interrupts` (Ctrl-C while a thread waits).
- Values: `values`, with `failures` and `exceptions` (the exceptions that are raised for an error),
  and `tensor`.
- Threads: `queues`; `one_thread` (for processes that cannot start threads); `waiting` (detects
  deadlocks and kernels that occupy a worker for a long time).
- Hosts: `context` (a host), `request` (a run), `run_parts` (a run's resources), and `default_host`
  (with the values on it).
- Memory: `budget`, `allocator`.
- Events: `tracing`.
"""
