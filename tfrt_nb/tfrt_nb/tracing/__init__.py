"""Programs from Python: traced functions, and kernels that are called one by one.

Tracing runs a `@program` function once, with placeholders for its arguments. Operators and kernel
calls become operations, which keep their Python locations.

- `trace` contains the values, operations, functions, and types of a program that is being traced.
- `operators`, `calls`, and `control` create operations.
- `names` finds the Python names of values. `records` creates a BEF file immediately, and source
  text on request.
- `functions` contains `@program`, and `eager` contains `tfrt.call`.
- `api` contains the public names, and `static` types them for type checkers.
"""
