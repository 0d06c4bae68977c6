"""Programs and runs as documents: plain values that go through JSON, which the board draws.

Stands on `programs`.  `program` has the operations, values and functions of a program with their places in its
text, `layout` says where a picture has them, `picture` draws it as SVG (`graph` for a program),
`stages` is what becomes of it on the way to the processor; `run` has the events of a run and its values, `code`
those of compiled code (`calls` says which call), `reached` what ran of it without events, `payloads` and `previews` their texts, `trace` a run as a file that Perfetto opens.
"""
