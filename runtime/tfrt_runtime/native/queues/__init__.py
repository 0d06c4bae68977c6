"""Work queues: ready kernels, the waiters that make them ready, and the threads that run them.

This package depends on memory blocks and on AsyncValues.  Read in this order:

- `deques`: where tasks wait.
- `tasks`: which threads take tasks, and which threads sleep.
- `waiters`: what runs when a value is resolved, and how kernels become ready.
- `sharing`: how threads share work, and how root calls start.
- `blocking_pool`: the threads for kernels that block.
"""
