"""Passes on async programs: lowering to coroutines, reference counting, parallel loops.

`pipeline` names them all and knows the order.  Shared by several: `control_flow`, `liveness`,
`coroutines`, `awaiting`, `outline`, `reference_counts`, `shared_exits`, `index_math`.  `copying` makes the
copy that is compiled; `printing` shows a module as `mlir-opt` does.

`convert_async_to_llvm` lowers for MLIR's tools instead of the JIT: `async_in_llvm` is how it goes, `async_calls`
has each operation, `llvm_forms` the types.  What all conversions of MLIR do is in `conversion` (values and
casts), `dominance` (the order) and `fold_once`.

Simplification is MLIR's, step by step, so that the text is: `folds` has what operations with known operands
are, `patterns` what else is simpler, `greedy` applies both until nothing changes.
"""
