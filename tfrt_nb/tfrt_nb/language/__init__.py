"""The language as editors need it: one table for completion, hover, and lists of kernels.

Builds on `dialects` and `source`.  `documentation` has a line for each family of operations,
`examples` a program for each; `operations` is the table: name, signature, attributes,
documentation, example; `scan` finds functions and values in a source that is being written;
`answers` completes, explains, finds definitions and uses, and renames at a place in it; `lint`
finds its mistakes, and turns their messages into changes; `server` offers all of these to
editors through the Language Server Protocol; `lexer` highlights its syntax.
"""
