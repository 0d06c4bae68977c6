"""Programs from Python: functions that are traced, and kernels that are called one by one.

Tracing runs a `@program` function once, with placeholders for its arguments. Operators and calls of
kernels become operations, which keep their Python locations.

- `trace` has the values, operations, and functions of a program that is being traced, and their
  types.
- `operators`, `calls`, and `control` create operations.
- `names` finds the Python names of values. `records` creates a BEF file immediately, and source
  text on request.
- `functions` has `@program`, and `eager` has `tfrt.call`.
- `api` has the public names, and `static` types them for type checkers.
"""
