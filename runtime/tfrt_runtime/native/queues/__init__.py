"""Work queues: what is ready, what waits for it, and which thread takes it.

Stands on the blocks of memory and on AsyncValues.  Read in this order: `ready` (kernels whose arguments are available), `tasks` (queues of
tasks), `waiters` (what runs when a value resolves), `sharing` (between threads), `starting` (calls from outside),
`blocking_pool` (threads for kernels that block).
"""
