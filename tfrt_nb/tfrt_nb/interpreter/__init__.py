"""Run compiled functions without LLVM: after the same passes, they become Python functions.

Objects stay in the core, which is reached through the functions that machine code calls. Coroutines
are generators. An interpreted program therefore prints, fails, leaks, and is cancelled like its
machine code, on every queue. Programs are interpreted where LLVM does not run, such as in a page,
and with `--tier interpreter`. The differential nets compare the two.

The package builds on the parts of the JIT that do not need LLVM. Read in this order:

- While a program runs: `memory` (types of numbers, how values are stored, and records), `machine`
  (the core's functions, coroutines, and tasks).
- Operations, each written as Python: `source` (what they write to), `numbers` (scalars), `buffers`,
  `calls`, `objects` (tokens, values, groups, and coroutines).
- `functions`: a function, a module, and the functions that kernels of host programs call.
"""
