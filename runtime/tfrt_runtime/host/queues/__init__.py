"""Work queues in Python: their names, their threads, and those of users.

`queue_names` (the grammar), `threads`, `queue_threads`, `work_queue`, `user_queue`.
"""
