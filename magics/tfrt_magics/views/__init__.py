"""How a run is shown: pure functions from a snapshot to text, page, and picture; and the board.

Builds on `bridge`.  Read in this order: `text` (with the shapes and colors of states), `page`,
`diagnostics` (errors at the cell's lines), `graph` (a program as a picture), `stages` (a program at
a stage of its compilation), `outlet` (which of these a notebook, a console, or a terminal gets).

The board itself is in `static/`, as ES modules. Its frame is `board.js`.
"""
