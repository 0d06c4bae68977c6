"""AsyncValues in Python.

`fitting` (which objects a type has), `held_value` (the reference to a native value, and which
members of a class users see), `waiting` (for a value), `async_value`, `promises` (values from
outside the runtime, and futures as values), `at_once` (many calls, some in flight).
"""
