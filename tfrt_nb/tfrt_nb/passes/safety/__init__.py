"""Keep programs from ending the process: reject them here, or check at run time.

`check_async` rejects programs. `guard_operations` puts assertions before divisions, sizes, steps,
and recursion. `interruptible_loops` lets a run be cancelled inside a loop. `buffers` does the same
for memory.
"""
