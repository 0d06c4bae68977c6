"""Run compiled functions without LLVM: after the same passes, they become Python functions.

Objects are in the core, and interpreted code calls the same functions of the core as machine code
does. Coroutines are generators. Therefore, an interpreted program prints, fails, leaks, and is
cancelled like its machine code, on every queue. Programs are interpreted where LLVM does not run,
such as in a browser page, and with `--tier interpreter`. Differential tests compare the interpreter
with machine code.

The package builds on the parts of the JIT that do not need LLVM. Read the modules in this order:

- While a program runs: `memory` (number types, the storage of values, and records), `machine` (the
  core's functions, coroutines, and tasks).
- Operations, which become Python source: `source` (the source of a module), `numbers` (scalars),
  `buffers`, `calls`, `objects` (tokens, values, groups, and coroutines).
- `functions`: functions, modules, and the entry points for kernels of host programs.
"""
