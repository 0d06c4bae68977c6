"""Keep programs from crashing the process: reject them, or check at run time.

`guard_operations` rejects programs, and inserts assertions about divisors, sizes, steps, and
recursion. `interruptible_loops` makes loops stop when their run is cancelled. The package `buffers`
guards memory.
"""
