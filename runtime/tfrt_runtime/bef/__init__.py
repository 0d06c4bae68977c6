"""BEF, the binary form of host programs: what stands between compiler and runtime.

Stands on `diagnostics` only.  Read in this order: `encoding` (the format's constants, and what a
file consists of), `records` (what a file says, as values), `wire` (bytes and integers), `numbers`
(elements as bytes); then `writer`, `reader` with `body_reader`; `attributes`, `locations`;
`listing` (the bytes as text). `collector` keeps Python's garbage collector away from large files.
"""
