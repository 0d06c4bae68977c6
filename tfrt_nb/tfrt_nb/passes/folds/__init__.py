"""What operations are when some of their operands are known, by the names of the operations.

`integers` and `casts` have the arithmetic that `arith` and `index` share, `floats` and `functions` that of
floats, `buffers` and `structures` what is folded in place; `table` puts them together.
"""
