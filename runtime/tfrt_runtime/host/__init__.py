"""The native core as Python objects: values, work queues, allocators, and the contexts of runs.

Stands on `native`.  Read in this order:

- Access: `raw` and `process` (how Python reads and calls the core), `objects` and `payload` (Python objects
  in native values), `fitting` (which objects a type has).
- Values: `async_value`, `chain`, `failures` and `exceptions` (what is raised for an error), `promises` (values
  from outside the runtime), `futures` and `composing` (futures as values, several values as one), `drawing`.
- Threads: `queue_names`, `thread_starts`, `work_queue`, `user_queue` and `dask_queue`; `interrupts` (Ctrl-C
  while a thread waits) and `idleness` (whether a queue is quiescent).
- Hosts: `context` (a host, and the request of a run), `default_host`, `resources`, `timer`.
- Memory: `budget`, `allocator`, `ledger`, `tensor`.
- Events: `trace` and `chrome_trace`, `events` (what the core logs of a run that is watched).
"""
