"""BEF, the binary form of host programs, is the interface between the compiler and the runtime.

The package depends only on `diagnostics`.  Read its modules in this order:

- `records`: the format's constants, and the contents of a file as values
- `wire`: bytes and integers
- `writer`: from values to bytes
- `reader` and `body_reader`: from bytes to values
- `attributes` and `locations`: the two sections with their own formats
- `listing`: the bytes of a file as text
"""
