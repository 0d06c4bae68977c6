"""Running BEF: a file is decoded once, to native memory, and then run any number of times.

`program` loads a file against a registry of kernels (`type_check` compares what kernels take with what
they get, `arena` and `decode` lay it out, `constants` and `python_kernels` fill in what the records
point at); `plain_calls` makes closures for plain Python kernels; `execution` is one run of a function,
`progress` tells how far it is, and `work` runs functions that kernels leave to others; `driver` runs a
whole file as the command line does.

Sync functions become code for an interpreter: `sync_functions` knows the steps, which are
`sync_lowering` (with `sync_loops`, on what `sync_code` and `sync_operations` define), `sync_fusion`,
`sync_registers` and `sync_writer`.
"""
