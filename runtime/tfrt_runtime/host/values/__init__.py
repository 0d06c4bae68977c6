"""AsyncValues in Python.

`fitting` (which objects a type has), `public` (which members of a class users see), `async_value`,
`promises` (values from outside the runtime), `futures` (futures as values), `at_once` (many calls,
some in flight).
"""
