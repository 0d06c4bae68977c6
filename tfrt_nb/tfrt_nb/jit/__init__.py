"""Async programs as machine code: LLVM IR with coroutine intrinsics, compiled by LLVM in this process.

Stands on the passes and on `tfrt_runtime.async_runtime`.  Read in this order:

- Functions: `names`, `llvm_types`, `places` (operations as debug information), `function_body` (the text of one function);
  room `operations` has what lowers which operations.
- Modules: `coroutines`, `spawning` (how tasks begin), `adapters` (the ways into the code for kernels of host
  programs), `linking`.
- Machine code: `effort` (how much work each function is worth), `rounding` (to bf16), `compiler`, `stages`
  (all in one call), `cache`, `programs` (what is in the cache is not compiled again).
- Hot functions of host programs: `scalar_operations`, `hot_functions`; they stand on `compiler` only.
"""
