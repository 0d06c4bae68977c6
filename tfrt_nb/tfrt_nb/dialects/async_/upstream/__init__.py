"""The upstream dialects that async programs use, one per module.

They are xDSL's dialects, with the operations that xDSL lacks, and with MLIR's text and checks:
`arithmetic` (arith, and atomic operations of memref), `branches` (cf, and functions as values),
`loops` (scf), `buffers` (memref), `linear` (linalg), `printing` (vector).
"""
