"""Programs and runs as documents: plain values that go through JSON, which the board draws.

`program` has the operations, values and functions of a program with their places in its text,
`layout` says where a picture has them, `stages` what becomes of it on the way to the processor; `run` has the events of a run and its values, `code` those of compiled
code, `payloads` and `previews` their texts.
"""
