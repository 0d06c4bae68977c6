"""Keep programs from killing the process: reject them here, or check at run time.

`guard_operations` rejects programs, and puts assertions before divisions, sizes, steps, and
recursion. `interruptible_loops` lets a run be cancelled inside a loop. `buffers` does the same
for memory.
"""
