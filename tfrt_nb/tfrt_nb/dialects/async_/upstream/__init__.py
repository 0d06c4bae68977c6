"""The upstream dialects that async programs use, one in each module.

They are xDSL's, with operations that it lacks, and with MLIR's text and checks: `arithmetic`
(arith), `branches` (cf), `loops` (scf), `function_values` (func), `buffers` with
`atomics` (memref), `linear` (linalg), `printing` (vector).
"""
