"""Compile async programs to machine code in this process, through LLVM IR with coroutines.

The package builds on the passes and on `tfrt_runtime.async_runtime`. Read in this order:

- Programs: `declarations` (the functions outside a program), `lowering` (the passes). The
  interpreter starts with these, too.
- Functions: `names`, `llvm_types`, `places` (operations as debug information), `runtime_calls`
  (shared with interpreted code), `function_body` (the text of one function); the package
  `operations` has the lowerings of operations.
- Modules: `coroutines`, `spawning` (how tasks start), `adapters` (entry points for kernels of host
  programs, and for hot functions).
- Machine code: `compiler` (with the symbols that it links), `stages` (the whole compilation in one
  call, and the optimization effort for each function), `programs` (the cache of compiled programs).
- Hot functions of host programs, converted and compiled in the same way: `scalar_operations`,
  `host_functions`.
"""
