"""Shortcuts that change no result and that `-O0` omits.

Each module shows a program before and after.

`copying` turns short tasks into plain functions while it copies a program. `fast_path` runs async
functions without a coroutine until they wait. `elide_coroutines` drops frames that are never
suspended, and `unroll_short_loops` marks loops for LLVM to unroll. `inline` replaces calls with
function bodies, and `canonicalize` simplifies operations; both are only for pipelines that a user
writes, and runs do not use them.
"""
