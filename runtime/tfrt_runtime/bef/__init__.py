"""BEF, the binary form of host programs: what stands between compiler and runtime.

Read in this order: `encoding` (the numbers, and what a file consists of), `records` (what a file
says, as values), `wire` (bytes and integers), `writer` and `body_writer`, `reader` and
`body_reader`; then `attributes` and `locations` with their own readers and writers, and `listing`
(the bytes for people).
"""
