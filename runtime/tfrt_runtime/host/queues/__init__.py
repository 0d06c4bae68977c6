"""Work queues in Python: their names, their threads, and those of users.

`queue_names` (the grammar), `thread_starts`, `work_queue`, `timer`, `user_queue`, `dask_queue`.
"""
