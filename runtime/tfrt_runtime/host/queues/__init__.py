"""Work queues in Python: their names, their threads, and those of users.

`queue_names` (the grammar), `thread_starts`, `queue_threads`, `slices` (waits that see signals), `work_queue`, `timer`, `user_queue`, `dask_queue`.
"""
