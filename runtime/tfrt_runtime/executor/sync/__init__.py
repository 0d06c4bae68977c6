"""Sync functions as code for the interpreter.

`sync_lowering` makes instructions, which are those of `sync_code`, and `sync_writer` lays them out.
"""
