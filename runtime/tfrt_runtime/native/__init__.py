"""The native core: AsyncValues, the executor, and work queues, on raw addresses.

Every function here is ordinary Python in the subset that Numba compiles.  Functions access shared
memory only through `memory`.  The compiled functions run without the GIL.  Uncompiled, the same
functions run on simulated memory in the interleaving explorer.  The core depends only on `cache`
and on the table of scalar operations.

    kernel --kernel_calls--> results --delivery--> registers --ready--> users' counts-> ready kernel
      ^                         |                                                            |
      |                         +-- unavailable: async_value --waiters, when it resolves-----+
      +------------------------- executor: this thread's ready stack; else tasks, sharing ---+

Terms:

- word: a 64-bit integer.  An address is a word.
- context: the struct that holds one thread's state.
- process: the struct that all threads share.
- value: an AsyncValue, which is unavailable, available, or an error.
- to resolve a value: to make it available or an error.
- waiter: an action that runs when a value is resolved.
- run: one execution of a program.  Its struct is the request.
- root call: a call from outside the core, made by Python.  It has a table of its results and
  arguments.
- function: a decoded BEF function.
- record: one kernel of a function.
- slot: where one result of a kernel goes.
- activation: one call of a function.
- register: a word in an activation that contains a value's address.
- ready count: how many arguments a kernel still awaits.
- ready stack: the kernels that a thread will run next.
- task: a function call in a work queue.  Any thread of the queue may run it.
- watch: the struct of a run whose events are logged.
- handle: a word that names a Python object.

Read in this order:

- Memory: `memory` (memory accesses, and stacks that threads share), `layouts` (the structs, with a
  diagram), `cells` (the budget, and blocks), `trimming` (returns free slabs to the system),
  `threads` (how a thread finds its context), `machine` (the machine that runs this process).
- Values: `async_value`, `tensors`; `events` (the log of watched runs).
- Subfolders: `queues` (ready kernels, and the threads that run them), `calls` (a call of a
  function, and the run loop), `kernels`, `coroutines` (functions that compiled code calls).
- Calls from Python: `handles` (operations on Python's host objects), `python` (code that holds the
  GIL).
- Loading the core: `library`.  Building the core: `building`.
"""
