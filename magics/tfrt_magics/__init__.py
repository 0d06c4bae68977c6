"""The notebook: `%%tfrt`, its board, and what stays of a run in a saved notebook.

Read from below: `options` (the line after `%%tfrt`), `bridge` (runs, looked at), `inputs` (what a line names: values,
programs, files; and which functions run), `views` (how they are shown), `warming`
(imports made ahead of the first cell), `session` (what cells share), `live` (displayed
values and runs, kept live), `lessons` (the magics of the tutorials), `cell` and `lines` (the other magics), `sliders`
(controls for arguments), `assist` (help while a cell is written), `extension`.
Builds on the compiler and the runtime; nothing builds on it.
"""
