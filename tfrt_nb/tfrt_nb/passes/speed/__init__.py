"""Passes that make programs faster without changing their results; `-O0` leaves them out.

The docstring of each module shows a program before and after the pass.

`fast_path` runs async functions without a coroutine until they wait. `unroll_short_loops` marks
loops that LLVM should unroll.

Two passes run only in pipelines that a user writes: `inline`, which replaces calls with function
bodies, and `canonicalize`, which simplifies operations.
"""
