"""The native core: AsyncValue, executor and work queues over raw addresses.

Every function here is plain Python in the subset that Numba compiles, and touches shared memory only
through `memory`.  Compiled, it runs without the GIL; uncompiled, the same text runs on a simulated
memory under the interleaving explorer.  Stands on nothing but `cache` and the table of scalar operations.

    kernel --kernel_calls--> results --delivery--> registers --ready--> users' counts --> ready kernel
      ^                         |                                                            |
      |                         +-- unavailable: async_value --waiters, when it resolves-----+
      +------------------------- executor: this thread's ready stack; else tasks, sharing ---+

Read in this order:

- Memory: `memory` (what an access is), `layouts` (the structs, with a drawing), `budget`, `cells` (blocks),
  `threads` (the context of a thread).
- Values and threads: `async_value`, `waiters`, `tasks` and `blocking_pool` (work queues), `starting` (calls
  from outside), `sharing` (between threads), `outside_queues` (queues of users), `events` (the log of
  watched runs).
- A call of a function: `activation` (with its life), `ready`, `delivery`, `endings`, `kernel_calls`, `executor`
  (the run loop).
- Kernels: `frame`, `scalar_kernels`, `control_kernels`, `async_kernels`, `sleeping_kernels`, `benchmark_kernel`,
  `user_kernels`, `python_functions`; for tensors `tensors`, `tensor_arguments`, `tensor_loops`, `tensor_kernels`, `tensor_products`.
- Sync functions: `sync_layouts`, `sync_values`, `sync_frames`, `sync_interpreter`.
- Compiled coroutines: `async_objects` (with their life), `async_groups`, `async_awaiting`, `async_interrupts`,
  `async_buffers`, `compiled_kernels`, `async_abi` (their C functions).
- Calls from Python: `handles`, `python_calls`.
- How it is built: `entries` (what it exports), `lowering`, `tensor_lowering`, `collecting`, `build`, `compiling`;
  `machines` and `prebuilding` (for wheels), `library` and `loaded` (loading it).
- How it is explored: `simulator`.
"""
