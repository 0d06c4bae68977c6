"""The upstream dialects that async programs use, one per module.

They are xDSL's dialects, plus operations that xDSL lacks, with MLIR's syntax and checks.
`arithmetic` contains arith and the atomic operations of memref. `branches` contains cf, and
functions as values. `loops` contains scf, `buffers` contains memref, `linear` contains linalg, and
`printing` contains vector.
"""
