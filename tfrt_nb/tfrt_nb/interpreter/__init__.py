"""Run compiled functions without LLVM: after the same passes, they become Python functions.

Objects stay in the core, which interpreted code reaches through the same functions as machine code.
Coroutines are generators. Therefore, an interpreted program prints, fails, leaks, and is cancelled
like its machine code, on every queue. Programs are interpreted where LLVM does not run, such as in
a browser page, and with `--tier interpreter`. Differential tests compare the two.

The package builds on the parts of the JIT that do not need LLVM. Read in this order:

- While a program runs: `memory` (types of numbers, how values are stored, and records), `machine`
  (the core's functions, coroutines, and tasks).
- Operations, each written as Python: `source` (the source under construction), `numbers` (scalars),
  `buffers`, `calls`, `objects` (tokens, values, groups, and coroutines).
- `functions`: a function, a module, and the functions that kernels of host programs call.
"""
