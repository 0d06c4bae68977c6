"""Compile async programs to machine code in this process, through LLVM IR with coroutines.

The package builds on the passes and on `tfrt_runtime.async_runtime`. Read the modules in this
order:

- Programs: `declarations` (external functions that a program declares), `lowering` (the passes).
  The interpreter also starts with these two.
- Functions: `names`, `llvm_types`, `places` (source locations as debug information),
  `runtime_calls` (shared with the interpreter), `function_body` (the LLVM text of one function).
  The package `operations` contains the lowerings of operations.
- Modules: `coroutines` (the whole LLVM module), `spawning` (how tasks start), `adapters` (entry
  points for kernels of host programs, and for hot functions).
- Machine code: `compiler` (compiles and links), `stages` (the whole compilation in one call, and
  the optimization level of each function), `programs` (the cache of compiled programs).
- Host programs: `scalar_operations` and `host_functions` convert hot functions of host programs and
  compile them in the same way.
"""
