"""The async dialect: tasks, asynchronous functions, and what they are lowered to.

Read in this order: `types`, `forms` (how operations are defined), `tasks`, `functions`; then the lower level: `runtime`,
and `extensions`, operations that MLIR lacks; then `proposal`, what only the seeds have; `dialect` has it all.

`upstream` has the other dialects that async programs use.
"""
