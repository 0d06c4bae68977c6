"""AsyncValues in Python.

`drawing` (how a value looks), `fitting` (which objects a type has), `async_value`, `promises` (values from outside the
runtime), `futures` (futures as values).
"""
