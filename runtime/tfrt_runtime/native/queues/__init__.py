"""Work queues: ready kernels, the waiters that lead to them, and the threads that take them.

Depends on the memory blocks and on AsyncValues.  Read in this order: `deques` (where tasks wait),
`tasks` (who takes them, and who sleeps), `waiters` (run when a value resolves, and lead to ready
kernels), `sharing` (between threads, and with calls from outside), `blocking_pool` (threads for
kernels that block).
"""
