"""Work queues: ready kernels, the waiters that make them ready, and the threads that take them.

It depends on the memory blocks and on AsyncValues.  Read in this order: `deques` (where tasks
wait), `tasks` (which threads take them, and which sleep), `waiters` (they run when a value is
resolved, and make kernels ready), `sharing` (between threads, and of calls from outside),
`blocking_pool` (threads for kernels that block).
"""
