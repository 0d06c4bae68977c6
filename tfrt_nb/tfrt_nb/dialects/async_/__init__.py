"""The async dialect: tasks, asynchronous functions, and the operations that they are lowered to.

Read in this order: `types` (and how operations are defined), `tasks`, and `functions`; then the
lower level, `runtime` and `extensions` (operations that MLIR lacks); then `proposal` (operations
that only the 2020 proposal has). `dialect` lists all of them.

`upstream` has the other dialects that async programs use.
"""
