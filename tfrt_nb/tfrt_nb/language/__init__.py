"""What the language has, for its users: one table for completion, hover and lists of kernels.

Builds on `dialects` and `source`.  `documentation` has a line for each family of operations,
`examples` a program for each; `operations` is the table: name, signature, attributes,
documentation, example; `scan` finds functions and values in a source that is being written;
`answers` completes, explains, finds definitions and uses, and renames at a place of it; `lint` says
what is wrong with it, and what to write instead; `server` gives all of these to editors, by the
Language Server Protocol; `lexer` colours it.
"""
