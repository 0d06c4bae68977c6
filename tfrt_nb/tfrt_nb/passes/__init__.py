"""Passes on async programs: lowering to coroutines, reference counting, parallel loops.

`pipeline` names them all and knows the order.  Shared by several: `control_flow`, `liveness`,
`coroutines`, `awaiting`, `outline`, `reference_counts`, `shared_exits`, `index_math`.  `copying` makes the
copy that is compiled; `printing` shows a module as `mlir-opt` does.

`notation` reads a pipeline of MLIR's syntax.  `canonicalize`, `cse` and `dce` are xDSL's; `constants` folds what
`async-parallel-for` makes.
"""
