"""BEF, the binary form of host programs, which is the interface between compiler and runtime.

It depends only on `diagnostics`.  Read in this order: `records` (the format's constants, and the
contents of a file as values), `wire` (bytes and integers); then `writer`, and `reader` with
`body_reader`; `attributes`, `locations`; `listing` (the bytes as text).
"""
