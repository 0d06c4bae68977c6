"""Language support for editors: completion, hover, diagnostics, and lists of kernels.

The package builds on `dialects` and `source`.

- The table of operations: `documentation` contains one line for each family of operations, and
  `examples` contains one program for each. `operations` combines them into entries with a name,
  signature, attributes, documentation, and example.
- Sources that are being edited: `scan` finds functions and values. `answers` completes and explains
  the name at a place, finds definitions and uses, and renames names. `lint` finds mistakes, and
  suggests edits from their messages.
- Clients: `server` offers all of these to editors through the Language Server Protocol. `lexer`
  highlights the syntax.
"""
