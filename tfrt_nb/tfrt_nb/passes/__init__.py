"""Passes on async programs: lowering to coroutines, reference counting, parallel loops.

`pipeline` names them all and knows the order.  Shared by several: `control_flow`, `liveness`,
`coroutines`, `awaiting`, `outline`, `reference_counts`, `shared_exits`, `index_math`.  `copying` makes the
copy that is compiled; `printing` shows a module as `mlir-opt` does.

Simplification is MLIR's, step by step, so that the text is: `folds` has what operations with known operands
are, `patterns` what else is simpler, `greedy` applies both until nothing changes.
"""
