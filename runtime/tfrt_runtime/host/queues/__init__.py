"""Work queues in Python: their names, their threads, and users' queues.

Read in this order: `queue_names` (the grammar), `threads`, `queue_threads`, `work_queue`,
`user_queue`.
"""
