"""The native core: AsyncValue, executor, and work queues over raw addresses.

Every function here is plain Python in the subset that Numba compiles, and touches shared memory
only through `memory`.  Compiled, it runs without the GIL.  Uncompiled, the same source runs on a
simulated memory under the interleaving explorer.  Depends only on `cache` and the table of scalar
operations.

    kernel --kernel_calls--> results --delivery--> registers --ready--> users' counts-> ready kernel
      ^                         |                                                            |
      |                         +-- unavailable: async_value --waiters, when it resolves-----+
      +------------------------- executor: this thread's ready stack; else tasks, sharing ---+

Read in this order:

- Memory: `memory` (accesses, and lists that threads share), `layouts` (the structs, with a diagram),
  `cells` (the budget, and blocks), `trimming` (free blocks back to the system), `threads` (the context of a thread), `machine` (what this process runs on).
- Values: `async_value`, `tensors`; `events` (the log of watched runs).
- Rooms: `queues` (ready kernels, and the threads that run them), `calls` (a call of a function, and
  the run loop), `kernels`, `coroutines` (functions that compiled code calls).
- Calls from Python: `handles` (operations on its objects), `python` (with the GIL).
- How it is loaded: `library`; how it is built: `building`.
"""
