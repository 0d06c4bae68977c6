"""Programs and runs as documents: plain values that go through JSON, which the board draws.

Builds on `programs`.  `escapes` cuts and escapes text, `previews` shows values as short texts,
`heat_map` a tensor as a small picture.
`program` has the operations, values, and functions of a program with their source locations;
`picture` lays them out and draws them; `stages` has the program at each stage of its compilation;
`events` has the columns of a run's events, and computes the states of values and operations from
them; `code` does so for compiled code; `blocks` infers the states of operations without events;
`run` is the document of a run, and `trace` writes a run as a file that Perfetto opens.
"""
