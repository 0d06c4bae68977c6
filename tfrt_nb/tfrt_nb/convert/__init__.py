"""Convert modules of the IR to BEF files and back.

The package builds on `dialects` and on `tfrt_runtime.bef`. The two directions are `mlir_to_bef` and
`bef_to_mlir`. The format is specified at
https://github.com/tensorflow/runtime/blob/master/documents/binary_executable_format.md.

- Both directions use `attributes` (and locations), and `carried` (functions that a file has only as
  text).
- To BEF: `collect` finds the contents of a module. `rows` builds a function's record from
  operations whose values are registers. The operations come from a module, from a trace, or from
  `plain_text`. `plain_text` is a shortcut for large programs, which converts a source to records
  without a module in between.
- `graph` writes a program in the DOT language.
"""
