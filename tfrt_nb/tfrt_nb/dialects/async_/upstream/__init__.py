"""The upstream dialects that async programs use: `dialects` makes them.

Where xDSL lacks operations or MLIR's text, these add them (by `replacing`): `arithmetic` and `conversions`, `loops`,
`buffers`, `views` and `atomics` (memref), `linear` (linalg), `printing`, `function_values`.
"""
