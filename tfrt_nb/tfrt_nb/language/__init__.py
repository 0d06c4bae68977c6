"""The language as editors need it: one table for completion, hover, and lists of kernels.

Builds on `dialects` and `source`.  The modules: `documentation` has one line for each family of
operations, and `examples` has one program for each.  `operations` is the table: name, signature,
attributes, documentation, example.  `scan` finds functions and values in a source that is being
written.  At a place in such a source, `answers` completes, explains, finds definitions and uses,
and renames.  `lint` finds mistakes, and turns their messages into suggested edits.  `server` offers
all of these to editors through the Language Server Protocol.  `lexer` highlights the syntax.
"""
