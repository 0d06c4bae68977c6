"""Nothing that a program does ends the process: it is refused here, or checked when it runs.

`check_async` refuses.  `guard_operations` puts assertions in front of divisions, sizes, steps and
recursion, `interruptible_loops` lets a run be cancelled in a loop.  `buffers` has the same for
memory.
"""
