"""The async dialect: tasks, asynchronous functions, and the operations that these are lowered to.

Read the modules in this order: `types` (which also shows how operations are defined), `tasks`, and
`functions`. Then read the lower level: `runtime`, and `extensions` (operations that MLIR lacks).
`proposal` contains operations that exist only in the 2020 proposal. `dialect` lists all operations.
`upstream` contains the other dialects that async programs use.
"""
