"""Load a BEF file into native memory.

`type_check` reads attributes and checks the types of kernels' arguments; `resolve` makes the record
of each kernel, including those of `python_kernels` and `native_functions`, which also determines
which functions run their kernels in order; and `decode` lays out the functions in native memory.
"""
