"""The native core: AsyncValue, executor and work queues over raw addresses.

Every function here is plain Python in the subset that Numba compiles, and touches shared memory only
through `memory`.  Compiled, it runs without the GIL; uncompiled, the same text runs on a simulated
memory under the interleaving explorer.  Stands on nothing but `cache` and the table of scalar operations.

    kernel --kernel_calls--> results --delivery--> registers --ready--> users' counts --> ready kernel
      ^                         |                                                            |
      |                         +-- unavailable: async_value --waiters, when it resolves-----+
      +------------------------- executor: this thread's ready stack; else tasks, sharing ---+

Read in this order:

- Memory: `memory` (what an access is), `declared` (how a struct is declared), `layouts` (the structs, with a drawing),
  `python_layouts` and `async_layouts` (those of Python and of compiled programs), `stacks` (lists that threads share), `cells` (the budget, and blocks),
  `threads` (the context of a thread).
- Values: `async_value`, `tensors`; `events` (the log of watched runs).
- Rooms: `queues` (what is ready, and who runs it), `calls` (a call of a function, and the run loop), `kernels`,
  `sync` (sync functions), `coroutines` (what compiled code calls).
- Calls from Python: `handles` (of what it holds), `python` (with the GIL).
- How it is loaded: `library`; how it is built: `building`.
"""
