"""Modules of the IR to BEF files and back.

Stands on `dialects` and on `tfrt_runtime.bef`.  `mlir_to_bef` and `bef_to_mlir` are the two ways.

- Both ways: `attributes` (and locations), `carried` (text that a file only carries).
- To BEF: `collect` finds what is in a module, `rows` makes a function's record of operations whose
  values are registers: those of a module, of a trace, or of `plain_text`, the shorter way for large
  programs, which goes from text to records without a module in between.
- `graph` writes a program in the DOT language.
"""
