"""From a BEF file to native memory.

`type_check` compares what kernels take with what they get, `decode` lays the file out in an `arena` (of large
functions, `columns` does so, and `alike` finds the kernels that need not be looked at one by one), `resolve`
makes the record of each kernel, from its `attributes`, for `python_kernels` and `native_functions`;
`plain_calls` says which Python kernels native code calls by itself.
"""
