"""Lower operations on buffers to loads and stores that stay inside their buffer.

`check_buffers` rejects programs that cannot be compiled. `convert_linalg_to_parallel_loops` turns
operations on whole buffers into loops, and complex memref operations into simple ones.
`guard_buffers` inserts assertions that an index is in bounds and that a buffer has not been freed.
Where possible, these assertions run once before a loop. `guard_views` asserts the preconditions of
operations that create views.
"""
