"""Sync functions: code for an interpreter, as `sync_layouts` says.

`sync_frames` are its calls and their registers, `sync_interpreter` is the loop, `sync_machine` its way to machine code.
"""
