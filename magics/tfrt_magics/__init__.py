"""The notebook integration: `%%tfrt`, its board, and the runs in saved notebooks.

Read from the bottom up: `options` (the line after `%%tfrt`), `bridge` (observes runs), `inputs`
(values, programs, and files named on a line; and which functions run), `views` (how runs are
shown), `session` (the state that cells share, and imports before the first cell), `live` (displayed
values and runs, kept live), `lessons` (the magics of the tutorials), `cell` and `lines` (the other
magics), `sliders` (controls for arguments), `assist` (help while a cell is being written), and
`extension`. Builds on the compiler and the runtime; nothing builds on it.
"""
