"""Calls between CPython and the core while a thread holds the GIL.

This package builds on `calls` and `kernels`.  Read in this order:

- `python_entries`: entries as Python functions, conversions between objects and payloads, and the
  Ctrl-C handler.
- `python_shortcuts`: all uses of what CPython does not document.  No other module reads a field of
  a Python object.
- `python_calls`: calls whose arguments are payloads.
- `python_functions`: kernels that are Python functions.
- `python_runs`: a run, from its arguments to its end.
- `python_waits`: how a thread works while it waits for a result.
"""
