"""Calls between CPython and the core while a thread holds the GIL.

This package builds on `calls` and `kernels`.  Read in this order:

- `python_entries`: how CPython calls the core's entries, how Python objects are converted to
  payloads and back, and the Ctrl-C handler.
- `python_shortcuts`: the only module that uses undocumented internals of CPython, such as the
  fields of Python objects.
- `python_calls`: calls whose arguments are payloads.
- `python_functions`: kernels that are Python functions.
- `python_runs`: a run, from its arguments to its end.
- `python_waits`: how a thread works while it waits for a result.
"""
