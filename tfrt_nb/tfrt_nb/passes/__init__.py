"""Passes on async programs: lowering to coroutines, reference counting, parallel loops.

`pipeline` names them all and knows the order.  Shared by several: `control_flow`, `liveness`,
`coroutines`, `awaiting`, `outline`, `reference_counts`, `index_math`.  `printing` shows a module as
`mlir-opt` does.
"""
