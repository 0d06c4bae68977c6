"""BEF, the binary form of host programs: the interface between compiler and runtime.

Depends only on `diagnostics`.  Read in this order: `encoding` (the format's constants, and the
parts of a file), `records` (the contents of a file, as values), `wire` (bytes and integers); then
`writer`, `reader` with `body_reader`; `attributes`, `locations`; `listing` (the bytes as text).
"""
