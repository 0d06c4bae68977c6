"""The upstream dialects that async programs use, one per module.

They are xDSL's dialects, plus operations that xDSL lacks, with MLIR's syntax and checks.
`arithmetic` has arith and the atomic operations of memref. `branches` has cf, and functions as
values. `loops` has scf, `buffers` has memref, `linear` has linalg, and `printing` has vector.
"""
