"""From a BEF file to native memory.

`type_check` reads attributes, and compares what kernels take with what they get; `resolve`
makes the record of each kernel, for `python_kernels` and `native_functions` too, `sync_functions`
says which functions run their kernels in order, and `decode` lays the functions out in an `arena`.
"""
