"""Sync functions: code for an interpreter, as `sync_layouts` says.

`sync_values` are its values, `sync_frames` its calls, `sync_interpreter` is the loop, `sync_machine` its way
to machine code.
"""
