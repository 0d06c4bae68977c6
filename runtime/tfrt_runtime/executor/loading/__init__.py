"""From a BEF file to native memory.

`type_check` compares what kernels take with what they get, `cycles` refuses waits without end, `decode` lays the
file out in an `arena` (`columns` does so for large functions), `resolve` makes the record of each kernel, from its
`attributes`, for `python_kernels` and `native_functions`; `plain_calls` says which Python kernels native code calls by itself.
"""
