"""AsyncValues in Python.

`fitting` (which objects fit a type), `held_value` (the reference to a native value, and which
members of a class users see), `waiting` (waits for a value), `async_value`, `promises` (values from
outside the runtime, and futures as values), `at_once` (many calls, some of them in flight).
"""
