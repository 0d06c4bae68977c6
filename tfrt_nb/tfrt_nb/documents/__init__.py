"""Programs and runs as documents: plain values that go through JSON, which the board draws.

Stands on `programs`.  `escapes` cuts and escapes text, `previews` shows values as short texts.  `program` has the operations, values and functions of a
program with their places in its text, `picture` says where a picture has them, and draws it, `stages` is what becomes of
it on the way to the processor; `run` has the events of a run and its values, `code` those of compiled code, `trace` a run as
a file that Perfetto opens.
"""
