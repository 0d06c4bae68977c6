"""The native core as Python objects: values, work queues, allocators, hosts, and runs.

A *host* (`HostContext`) has a work queue, an allocator, and the objects that its kernels share.  A
*run* (`Request`) is one execution of a program on a host.  An *error value* is an AsyncValue with a
`Diagnostic` instead of a payload.

This package builds on `native`.  Read in this order:

- Access: `structs` (memory of the core), `process` (how Python and the core call each other),
  `python_interface` (the functions of the core and of CPython), `payload` (Python objects in native
  memory), and `interrupts` (Ctrl-C while a thread waits).
- Values: `values`; `failures` and `exceptions` (the exceptions raised for error values); `tensor`.
- Threads: `queues`, `one_thread` (for processes that cannot start threads), and `waiting` (detects
  deadlocks and kernels that occupy a worker for too long).
- Hosts: `context` (a host), `request` (a run), `run_parts` (a run's resources), and `default_host`.
- Memory: `budget`, `allocator`.
- Events: `tracing`.
"""
