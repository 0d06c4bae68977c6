"""The native core: AsyncValues, the executor, and work queues, on raw addresses.

Every function here is ordinary Python in the subset that Numba compiles, and accesses shared memory
only through `memory`.  Compiled, it runs without the GIL.  Uncompiled, the same source runs on a
simulated memory in the interleaving explorer.  It depends only on `cache` and the table of scalar
operations.

    kernel --kernel_calls--> results --delivery--> registers --ready--> users' counts-> ready kernel
      ^                         |                                                            |
      |                         +-- unavailable: async_value --waiters, when it resolves-----+
      +------------------------- executor: this thread's ready stack; else tasks, sharing ---+

Read in this order:

- Memory: `memory` (accesses, and lists that threads share), `layouts` (the structs, with a
  diagram), `cells` (the budget, and blocks), `trimming` (returns free blocks to the system),
  `threads` (the context of a thread), `machine` (the machine that this process runs on).
- Values: `async_value`, `tensors`; `events` (the log of watched runs).
- Subfolders: `queues` (ready kernels, and the threads that run them), `calls` (a call of a
  function, and the run loop), `kernels`, `coroutines` (functions that compiled code calls).
- Calls from Python: `handles` (operations on Python's objects), `python` (with the GIL).
- Loading the core: `library`; building it: `building`.
"""
