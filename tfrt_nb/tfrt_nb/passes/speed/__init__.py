"""Passes that make programs faster without changing their results; `-O0` leaves them out.

The docstring of each module shows a program before and after the pass.

`fast_path` runs async functions without a coroutine until they wait. `unroll_short_loops` marks
loops that LLVM should unroll.

Runs do not use two of the modules, whose passes are only for pipelines that a user writes: `inline`
replaces calls with function bodies, and `canonicalize` simplifies operations.
"""
