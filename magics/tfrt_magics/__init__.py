"""The notebook integration: `%%tfrt`, its board, and the runs in saved notebooks.

The package builds on the compiler and the runtime; nothing builds on it. A *board* is the output
that shows a run: its values, graph, timeline, and printed text. A *page* is a front end that shows
the notebook, such as a JupyterLab tab. Read the modules in this order:

- `options` parses the line after `%%tfrt`.
- `bridge` observes runs.
- `inputs` finds the values, programs, and files that a line names, and chooses the functions to
  run.
- `views` shows runs.
- `session` holds the state that cells share, and imports modules before the first cell.
- `live` keeps displayed values and runs up to date.
- `lessons` contains the magics of the tutorials; `cell` and `lines` contain the other magics.
- `sliders` contains controls for arguments.
- `assist` helps while a user writes a cell.
- `extension` registers all of this.
"""
