"""Shortcuts, which change no result; `-O0` leaves them out, and each has a program before and
after.

`copying` makes plain functions of short tasks while it copies a program, `fast_path` runs async
functions without a coroutine until they wait, `elide_coroutines` drops frames that are never
suspended, and `unroll_short_loops` marks loops that LLVM unrolls. No run needs `inline`, which
replaces calls by the bodies of functions, and `canonicalize`, which simplifies.
"""
