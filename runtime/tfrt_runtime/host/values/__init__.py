"""AsyncValues in Python.

`fitting` (which objects a type has), `public` (which members of a class users see), `held_value`
(the reference to a native value), `waiting` (for a value), `async_value`, `promises` (values from
outside the runtime), `futures` (futures as values), `at_once` (many calls, some in flight).
"""
