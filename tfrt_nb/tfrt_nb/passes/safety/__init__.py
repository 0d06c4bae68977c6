"""Keep programs from crashing the process: reject them, or check at run time.

`guard_operations` rejects programs, and inserts assertions about divisors, sizes, steps, and
recursion. `interruptible_loops` lets a run be cancelled inside a loop. The package `buffers` guards
memory.
"""
