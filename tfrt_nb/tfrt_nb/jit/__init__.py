"""Async programs as machine code: LLVM IR with coroutine intrinsics, compiled by LLVM in this
process.

Stands on the passes and on `tfrt_runtime.async_runtime`.  Read in this order:

- Functions: `names`, `llvm_types`, `places` (operations as debug information), `function_body` (the
  text of one function); room `operations` has what lowers which operations.
- Modules: `coroutines`, `spawning` (how tasks begin), `adapters` (the ways into the code for
  kernels of host programs).
- Machine code: `compiler` (and what it is linked to), `stages` (all in one call, and how much work
  each function is worth), `programs` (what was compiled before is not compiled again).
- Hot functions of host programs: `scalar_operations`, `hot_functions`; they stand on `compiler`
  only.
"""
