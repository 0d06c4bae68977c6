"""How a run is shown: pure functions from a snapshot to text, HTML, and pictures; and the board.

The package builds on `bridge`. Read the modules in this order:

- `text` writes a table, and has the shapes and colors of states.
- `page` writes HTML.
- `diagnostics` shows errors at the cell's lines.
- `graph` shows a program as a picture.
- `stages` shows a program at a stage of its compilation.
- `outlet` chooses the output for a notebook, a console, or a terminal.

The board is written in JavaScript modules in `static/`; start with `board.js`.
"""
