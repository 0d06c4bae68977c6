"""The native core as Python objects: values, work queues, allocators, and the contexts of runs.

Read in this order: `raw` and `process` (how Python reads and calls the core), `objects` and `payload`
(Python objects in native values), `fitting` (which objects a type has), `async_value`, `chain`, `drawing`,
`queue_names`, `thread_starts`, `work_queue`, `user_queue` and `dask_queue` (threads),
`interrupts` and `idleness` (waiting: Ctrl-C, and whether a queue is quiescent), `context` (a host, and the request of a
run), `resources`, `promises`, `timer`, `allocator` and `ledger` (memory), `tensor`, `trace`,
`events` (what the core logs of a run that is watched).
"""
