"""The native core as Python objects: values, work queues, allocators, and the contexts of runs.

Builds on `native`.  Read in this order:

- Access: `structs` (memory of the core) and `process` (how Python and the core call each other), by
  `python_interface` (the core's functions, and CPython's), `payload` (Python objects
  in native memory), `interrupts` (Ctrl-C while a thread waits).
- Values: `values` with their `failures` and `exceptions` (what is raised for an error), `tensor`.
- Threads: `queues`; `one_thread` (for processes that cannot start threads), `waiting` (detection of
  deadlocks, and of kernels that occupy a worker for long).
- Hosts: `context` (a host), `request` (a run) and `run_parts` (its resources), `default_host` and
  its values.
- Memory: `budget`, `allocator`.
- Events: `tracing`.
"""
