"""The native core as Python objects: values, work queues, allocators, and the contexts of runs.

Stands on `native`.  Read in this order:

- Access: `structs`, `raw`, `cpython`, `entries` and `process` (how Python reads and calls the core), `objects` and `payload` (Python
  objects in native values).
- Values: `values` with their `failures` and `exceptions` (what is raised for an error), `composing` (several
  values as one), `tensor`.
- Threads: `queues`; `interrupts` (Ctrl-C while a thread waits); `waiting`.
- Hosts: `context` (a host), `request` (of a run), `default_host`, `resources`.
- Memory: `budget`, `allocator`.
- Events: `tracing`.
"""
