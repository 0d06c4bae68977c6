"""Sync functions as code for the interpreter.

`sync_functions` knows the steps, which are `sync_lowering` (with `sync_loops`, on what `sync_code` and
`sync_operations` define), `sync_tidying`, `sync_registers` and `sync_writer`.
"""
