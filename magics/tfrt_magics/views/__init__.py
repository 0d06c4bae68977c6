"""How a run is shown: pure functions from a snapshot to text, page and picture; then the live board.

Read in this order: `marks` (shapes and colours), `text`, `picture`, `page`, `bundle` (all of them, for
a saved notebook), `diagnostics` (errors against the cell's lines), `note` (verdicts about answers), `board` (the live widget, with
`static/board.js`), `outlet` (which of these a notebook, a console or a terminal gets).
"""
