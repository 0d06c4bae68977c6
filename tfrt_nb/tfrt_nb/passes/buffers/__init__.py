"""Lower operations on buffers to loads and stores that stay inside their buffer.

`check_buffers` rejects programs that cannot be compiled. `convert_linalg_to_parallel_loops` turns
operations on whole buffers into loops, and large operations into small ones. `guard_buffers`
asserts bounds and liveness, before loops where that is equivalent, and `guard_views` asserts the
preconditions of views.
"""
