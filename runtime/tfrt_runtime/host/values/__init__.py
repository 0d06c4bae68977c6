"""AsyncValues in Python.

Read in this order:

- `fitting`: which Python objects fit a program's type.
- `held_value`: the reference to a native value, and the choice of the members that users see.
- `waiting`: how threads and tasks wait for a value.
- `async_value`: the class AsyncValue.
- `promises`: values that code outside the runtime resolves, and futures as values.
- `at_once`: many calls, with a limited number in flight.
"""
