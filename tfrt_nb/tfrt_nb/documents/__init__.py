"""Programs and runs as documents: plain values, ready for JSON, that the board draws.

Builds on `programs`.  `escapes` shortens and escapes text, `previews` shows values as short
strings, and `heat_map` shows a tensor as a small picture.  `program` has a program's operations,
values, and functions with their places in its source, in rows that `walks` fills; `picture` lays
them out and draws them, and `stages` has the program at each stage of its compilation.  `events`
has the columns of a run's events, and computes the states of values and operations from them.
`code` converts the events of compiled code, and `blocks` infers the states of compiled operations
that have no events.  `run` is the document of a run, and `trace` writes a run as a file that
Perfetto opens.
"""
