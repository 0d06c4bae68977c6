"""AsyncValues in Python.

`fitting` (which objects a type has), `async_value`, `promises` (values from outside the
runtime), `futures` (futures as values), `at_once` (many calls, some in flight).
"""
