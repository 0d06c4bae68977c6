"""How a run is shown: pure functions from a snapshot to text, page and picture; then the modules of the board.

Stands on `bridge`.  Read in this order: `marks` (shapes and colours), `text`, `picture`, `graph` and `stage` (a
program as a graph, and at a stage of its compilation), `page`, `reprs` (what Python shows of runs and values),
`bundle` (all of them, for a notebook), `diagnostics` (errors against the cell's lines), `note` (verdicts about
answers), `outlet` (which of these a notebook, a console or a terminal gets).

The board itself is in `static/`: ES modules, of which `board.js` is the frame.
"""
