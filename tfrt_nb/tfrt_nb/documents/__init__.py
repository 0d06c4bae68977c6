"""Programs and runs as documents: plain values that go through JSON, which the board draws.

Builds on `programs`.  `escapes` cuts and escapes text, `previews` shows values as short texts,
`heat_map` a tensor as a small picture.
`program` has the operations, values and functions of a program with their places in its text,
in rows that `walks` fill;
`picture` says where a picture has them, and draws it, `stages` is what becomes of it on the way to
the processor; `events` has the columns of a run's events and what they make of its values and
operations, `code` those of compiled code, `blocks` what is known of its operations without events,
`run` the document of a run, `trace` a run as a file that Perfetto opens.
"""
