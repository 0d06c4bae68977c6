"""Shortcuts, which change no result; `-O0` leaves them out, and each has a program before and after.

`copying` makes plain functions of short tasks while it copies a program, `call_directly` calls functions that never
wait, `fast_path` runs async functions without a coroutine until they wait, `elide_coroutines` drops frames that are
never suspended, and `unroll_short_loops` marks loops that LLVM unrolls.
`inline`, which no run needs, puts the bodies of functions in the place of calls.
"""
